const BASE_WAIT_MS = 250;
const MAX_JITTER_MS = 1_000;
/** The longest possible wait: a timer with a longer delay fires immediately. */
export const MAX_WAIT_MS = 2 ** 31 - 1 - MAX_JITTER_MS;

/** The wait that a response requests in `Retry-After` (RFC 9110 section 10.2.3), in milliseconds. */
export function requestedWait(response: Response, now: number): number | undefined {
  const value = response.headers.get('Retry-After')?.trim();
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  // Date.parse would read a negative number or a fraction as a date in some year.
  const date = /^[a-z]{3}/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/**
 * The requested wait plus a random time of at most a second, so that clients that were refused together do not retry
 * together.
 */
export function withJitter(requestedMs: number, random: () => number): number {
  return requestedMs + random() * MAX_JITTER_MS;
}

/** The wait without a `Retry-After`: it doubles with each retry, and half of it is random. */
export function exponentialWait(retry: number, maxWaitMs: number, random: () => number): number {
  return Math.min(maxWaitMs, BASE_WAIT_MS * 2 ** retry) * (0.5 + random() / 2);
}

/** @throws the signal's reason as soon as it is aborted */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/**
 * Waits for a promise.
 * @throws the signal's reason as soon as it is aborted, even if the promise is still pending
 */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
