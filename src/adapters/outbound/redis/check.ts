import { Redis } from 'ioredis';
import type { DiagnosticReport } from '../../../application/ports/diagnostics.js';
import { GuardedConnector } from './reply-guard.js';

const PATIENCE_MS = 2_000;
/** A request waits 50 ms for Redis at most. */
const SLOW_MS = 25;

/** Asks Redis for its time, twice: the first command also waits for the connection. */
export async function checkRedis(url: string, now: () => number): Promise<DiagnosticReport> {
  const client = new Redis(url, {
    Connector: GuardedConnector,
    lazyConnect: true,
    connectTimeout: PATIENCE_MS,
    commandTimeout: PATIENCE_MS,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
    retryStrategy: () => null,
  });
  // The rejected command says the same.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.time();
    const sentAt = now();
    const [seconds = 0, microseconds = 0] = await client.time();
    const readAt = now();
    const time = {
      kind: 'now',
      of: "Redis's clock",
      at: seconds * 1_000 + microseconds / 1_000,
      readAt,
    } as const;
    const tookMs = Math.round(readAt - sentAt);
    if (tookMs <= SLOW_MS)
      return {
        findings: [{ subject: 'Redis', verdict: 'ok', message: `it responds in ${tookMs} ms` }],
        time,
      };
    const message = `it responds in ${tookMs} ms`;
    const remedy =
      'run it closer: no request waits over 50 ms for it, and then each process counts on its own';
    return { findings: [{ subject: 'Redis', verdict: 'warning', message, remedy }], time };
  } catch (error) {
    // Only the first word: the rest may quote a password.
    const { code, message = '' } = error as NodeJS.ErrnoException;
    const reason = code ?? message.split(' ', 1).join();
    return {
      findings: [
        {
          subject: 'Redis',
          verdict: 'wrong',
          message: `it does not respond (${reason})`,
          remedy: 'start it, or correct REDIS_URL; until then each process counts requests on its own',
        },
      ],
    };
  } finally {
    client.disconnect();
  }
}
