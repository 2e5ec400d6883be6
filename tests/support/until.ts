import { setTimeout as sleep } from 'node:timers/promises';

/** A guard against a wait without end; no test passes or fails by it on a machine that works. */
const LIMIT_MS = 120_000;
const PAUSE_MS = 10;

/**
 * Repeats a check until it neither returns false nor throws.
 * @throws Error after the limit, with the description and the error of the last check
 */
export async function until(description: string, check: () => unknown, limitMs = LIMIT_MS): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    let cause: unknown;
    try {
      if ((await check()) !== false) return;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > deadline)
      throw new Error(`not within ${limitMs} ms: ${description}${cause ? ` (${cause})` : ''}`, { cause });
    await sleep(PAUSE_MS);
  }
}
