import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { SCOPES } from '#src/domain/access.js';
import { catalogue } from '../../../tests/support/child-process-service.js';
import type { HttpClient } from '../../../tests/support/http-client.js';
import type { BystanderData, Measured } from './bystander.js';
import { MANY_ATTRIBUTES } from './requests.js';

const ALL_SCOPES = SCOPES.filter((scope) => scope !== 'keys:admin');

/**
 * Creates 150 products of 29 KiB, which fill a page of 4 MiB, then 100 of 10 KiB that take long to parse and that
 * {@link MANY_ATTRIBUTES} match, and then small ones that unindexed queries scan.
 */
export async function fill(client: HttpClient, folder: string): Promise<void> {
  const attributes = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`key${i}`, 'v'.repeat(460)]));
  const large = { name: 'large', description: 'd'.repeat(5_000), attributes };
  const quoted = { name: 'quoted', description: '"'.repeat(5_000), attributes: MANY_ATTRIBUTES };
  const headers = { 'Content-Type': 'application/x-ndjson' };
  const lines = `${JSON.stringify(large)}\n`.repeat(150) + `${JSON.stringify(quoted)}\n`.repeat(100);
  const { text } = await client.post('/v1/products/imports', lines, { headers });
  expect(text).to.include('"line":250,"status":201');
  await client.post('/v1/users', { name: 'A', email: 'a@example.com' });
  const { code, err } = await catalogue(folder, ['seed', '--products', '40000']);
  expect(code, `seed: ${err}`).to.equal(0);
}

export async function newKey(client: HttpClient): Promise<{ readonly id: number; readonly key: string }> {
  const { json } = await client.post('/v1/api-keys', { name: 'hostile', scopes: ALL_SCOPES });
  return json;
}

/** Starts a well-behaved client in a thread of its own. @returns a function that ends it and returns what it measured */
export async function startBystander(data: BystanderData): Promise<() => Promise<readonly Measured[]>> {
  const worker = new Worker(new URL('./bystander.js', import.meta.url), { workerData: data });
  await once(worker, 'message');
  return async () => {
    const message = once(worker, 'message');
    worker.postMessage('stop');
    const [measured] = await message;
    return measured as readonly Measured[];
  };
}

/**
 * Runs a function while the main thread has the lowest CPU priority. Only root may raise it again; for others it runs
 * with the usual one.
 */
export async function inBackground(run: () => Promise<unknown>): Promise<void> {
  const { PRIORITY_LOW, PRIORITY_NORMAL } = constants.priority;
  const isRoot = process.getuid?.() === 0;
  // On Linux, a process id stands for the main thread here.
  if (isRoot) setPriority(process.pid, PRIORITY_LOW);
  try {
    await run();
  } finally {
    if (isRoot) setPriority(process.pid, PRIORITY_NORMAL);
  }
}
