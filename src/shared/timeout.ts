/**
 * Calls back after `ms` milliseconds and the next I/O, so that a pause of this process does not count against the peer.
 * May still call back right after `clearTimeout`.
 */
export function setTimeoutAfterIo(ms: number, call: () => void): NodeJS.Timeout {
  return setTimeout(() => setImmediate(call), ms);
}

/**
 * @param error makes what is thrown
 * @throws Error if the promise is not settled after `ms` milliseconds; a later result is dropped
 */
export function withTimeout<Result>(
  promise: Promise<Result>,
  ms: number,
  error: () => Error = () => new Error(`no response within ${ms} ms`),
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeoutAfterIo(ms, () => reject(error()));
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
