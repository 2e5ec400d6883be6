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
