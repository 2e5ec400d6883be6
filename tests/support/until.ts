import { setTimeout as sleep } from 'node:timers/promises';

const LIMIT_MS = 15_000;
const PAUSE_MS = 10;

/**
 * Looks again and again until the look neither returns false nor throws.
 * @throws Error that names what was waited for, with what the last look threw
 */
export async function until(what: string, look: () => unknown, limitMs = LIMIT_MS): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    let cause: unknown;
    try {
      if ((await look()) !== false) return;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > deadline)
      throw new Error(`not within ${limitMs} ms: ${what}${cause ? ` (${cause})` : ''}`, { cause });
    await sleep(PAUSE_MS);
  }
}
