const FIRST_PAUSE_MS = 250;
const SPREAD_MS = 1_000;
/** A timer that shall take longer takes no time at all. */
export const LONGEST_WAIT_MS = 2 ** 31 - 1 - SPREAD_MS;

/** Milliseconds that an answer asks to wait (RFC 9110 section 10.2.3). */
export function requestedWait(response: Response, now: number): number | undefined {
  const value = response.headers.get('Retry-After')?.trim();
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  // Of a negative number or a fraction some time of another year would be made.
  const date = /^[a-z]{3}/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Never less than was asked, and by chance up to a second more, so that those who were refused together do not come together. */
export function spread(requestedMs: number, random: () => number): number {
  return requestedMs + random() * SPREAD_MS;
}

/** Where nobody says how long: twice as long each time, half of it by chance. */
export function pause(retry: number, longestMs: number, random: () => number): number {
  return Math.min(longestMs, FIRST_PAUSE_MS * 2 ** retry) * (0.5 + random() / 2);
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

/** @throws the signal's reason as soon as it is aborted, whatever becomes of the promise */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
