/**
 * Sends every forged token of tests/support/forged-tokens.ts to a started service. Prints how many were sent, and how
 * many were refused as the contract says. `npm run test:forged-tokens`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChildProcessService } from '../tests/support/child-process-service.js';
import { bearerAttacks } from '../tests/support/forged-tokens.js';
import type { HttpClient } from '../tests/support/http-client.js';
import { expectErrorOf, launch } from '../tests/support/send-forged-tokens.js';
import { TestIssuer } from '../tests/support/test-issuer.js';
import { print } from './statistics.js';

const folder = mkdtempSync(join(tmpdir(), 'attack-'));
const issuer = new TestIssuer();
await issuer.start();
const service = new ChildProcessService(folder, { LOG_LEVEL: 'info', ...issuer.settings });
try {
  const client = await service.started();
  const { tried, succeeded } = await attack(client);
  client.close();
  await service.stop();
  print(`${tried} forged tokens sent, ${tried - succeeded.length} refused as the contract says`);
  if (succeeded.length > 0) throw new Error(`not refused: ${succeeded.join(', ')}`);
} finally {
  await service.stop('SIGKILL');
  await issuer.stop();
  rmSync(folder, { recursive: true });
}

/** Sends each forged token with a read and with a write. */
async function attack(client: HttpClient): Promise<{ tried: number; succeeded: string[] }> {
  const succeeded: string[] = [];
  const attacks = bearerAttacks(issuer).flatMap((one) => [one, one]);
  for (const [at, one] of attacks.entries()) {
    const method = at % 2 === 0 ? 'GET' : 'POST';
    try {
      expectErrorOf(await launch(client, method, one, at), one);
    } catch (error) {
      succeeded.push(`${method} with ${one.name} (${error instanceof Error ? error.message : error})`);
    }
  }
  return { tried: attacks.length, succeeded };
}
