/** An operation of a store, or of another database that the service calls. There are few: a call is one value. */
export interface StoreCall {
  /** The kind of database: a value of the setting STORE, or `redis`. */
  readonly system: string;
  /** The method of the port. */
  readonly operation: string;
  /** The table, or the policy of a rate limiter. Undefined if the call concerns none, or several. */
  readonly collection?: string;
}

/**
 * Ends the observation of a call. Called once.
 * @param error what the call threw; undefined if it succeeded
 */
export type EndStoreCall = (error?: unknown) => void;

/** Learns of every call of a store: the metrics, the traces. Its functions must not throw. */
export interface StoreObserver {
  /** Called when a call begins, in the asynchronous context of its caller. */
  begin(call: StoreCall): EndStoreCall;
}

/** Runs a call and tells the observer when it begins and ends. */
export function observeCall<Result>(
  observer: StoreObserver,
  call: StoreCall,
  run: () => Promise<Result>,
): Promise<Result> {
  const end = observer.begin(call);
  let running: Promise<Result>;
  try {
    running = run();
  } catch (error) {
    end(error);
    throw error;
  }
  return running.then(
    (result) => {
      end();
      return result;
    },
    (error: unknown) => {
      end(error);
      throw error;
    },
  );
}

/** Returns one observer that tells all of them. Undefined if there are none. */
export function allObservers(observers: readonly StoreObserver[]): StoreObserver | undefined {
  if (observers.length < 2) return observers[0];
  return {
    begin: (call) => {
      const ends = observers.map((observer) => observer.begin(call));
      return (error) => {
        for (const end of ends) end(error);
      };
    },
  };
}
