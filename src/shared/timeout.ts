/**
 * Calls back after this many milliseconds and after the next I/O, so that a pause of this process does not count
 * against the peer. Can still call back right after `clearTimeout`.
 */
export function setTimeoutAfterIo(ms: number, call: () => void): NodeJS.Timeout {
  return setTimeout(() => setImmediate(call), ms);
}

/** @throws Error if the promise is not settled after this many milliseconds; its later result is dropped */
export function withTimeout<Answer>(response: Promise<Answer>, ms: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeoutAfterIo(ms, () => reject(new Error(`no answer within ${ms} ms`)));
    response.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
