/** A value that is known immediately, or a promise of it if something must be awaited. */
export type MaybePromise<Value> = Value | Promise<Value>;

/**
 * Passes the value to `use`, immediately if it is known. Unlike `await`, it costs no promise then.
 * Not named `then`: a module that exports this name cannot be imported dynamically.
 */
export function andThen<Value, Result>(
  value: MaybePromise<Value>,
  use: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/** Runs `work` and passes its error to `handle`, like `try` and `catch` around an `await`. */
export function catchErrors<Result>(
  work: () => MaybePromise<Result>,
  handle: (error: unknown) => MaybePromise<Result>,
): MaybePromise<Result> {
  try {
    const result = work();
    return result instanceof Promise ? result.catch(handle) : result;
  } catch (error) {
    return handle(error);
  }
}

/**
 * Calls for each item, one after the other. A call that fails does not stop the others.
 * @throws the first error, once all are called
 */
export async function forEach<Item>(items: Iterable<Item>, call: (item: Item) => Promise<void>): Promise<void> {
  const errors: unknown[] = [];
  for (const item of items) await call(item).catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}

/** Resolves after the I/O of this turn of the event loop. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Resolves after `ms` milliseconds. Keeps no process alive. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

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
