import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import { yieldToEventLoop } from '#src/shared/promises.js';
import type { ListService } from './middleware-harness.js';

export const LINES = { Accept: 'application/x-ndjson' };

/** Requests NDJSON. @returns the response, whose body is not read yet */
export function begin(service: ListService, path: string, headers = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { port } = service.client;
    request({ host: '127.0.0.1', port, path, headers: { ...LINES, ...headers }, agent: false }, resolve)
      .on('error', reject)
      .end();
  });
}

/** Waits for the log entry of a request. */
export async function logged({ logger }: ListService): Promise<Readonly<Record<string, unknown>>> {
  for (;;) {
    const line = logger.lines.find(({ event }) => event === 'request');
    if (line) return line.details;
    await yieldToEventLoop();
  }
}

/** Waits until the socket is full and no page is read for `turns` turns. @returns the number of pages read */
export async function pagesUntilFull({ connections, records }: ListService, turns = 1_000): Promise<number> {
  let pages = -1;
  for (let idleTurns = 0; idleTurns < turns; idleTurns++) {
    if (!connections.at(-1)?.writableNeedDrain || records.queries.length !== pages) idleTurns = 0;
    pages = records.queries.length;
    await yieldToEventLoop();
  }
  return pages;
}

/** Disconnects while a page is read. Expects that no other page is read, and one log entry. */
export async function expectEndOfReading(service: ListService, headers = {}): Promise<void> {
  const { records, logger } = service;
  const response = await begin(service, '/products', headers);
  let release = () => {};
  records.before = () => new Promise((resolve) => (release = resolve));
  response.resume();
  await once(records.reading, 'page');
  const pages = records.queries.length;
  response.destroy();
  expect(await logged(service)).to.include({ status: 200, complete: false });
  release();
  await someTurns();
  expect(records.queries).to.have.length(pages);
  expect(logger.lines.map(({ event }) => event)).to.deep.equal(['request']);
}

/** Waits 100 turns of the event loop, so that pending work finishes. */
export async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await yieldToEventLoop();
}
