import { setTimeout as sleep } from 'node:timers/promises';

/** A guard against a wait without end; no test passes or fails by it on a machine that works. */
const LIMIT_MS = 120_000;
/** The pause after the first check. Later ones are longer, so that a long wait costs little. */
const PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 100;

/**
 * Repeats a check until it neither returns false nor throws.
 * @throws Error after the limit, with the description and the error of the last check
 */
export async function until(description: string, check: () => unknown, limitMs = LIMIT_MS): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.2, LONGEST_PAUSE_MS)) {
    let cause: unknown;
    try {
      if ((await check()) !== false) return;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > deadline)
      throw new Error(`not within ${limitMs} ms: ${description}${cause ? ` (${cause})` : ''}`, { cause });
    await sleep(pauseMs);
  }
}
