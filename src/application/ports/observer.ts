/**
 * Learns of every request and of every call of a store: the access log, the metrics, the traces, the usage of API keys.
 * Its functions must not throw.
 */
export interface Observer {
  /**
   * Called when a request arrives.
   * @param parent the span of its client
   */
  request?(method: string, parent: RemoteSpan | undefined): ObservedRequest;
  /** Called when a call begins, in the asynchronous context of its caller. */
  storeCall?(call: StoreCall): EndStoreCall;
}

/** A request of which an observer has learnt. */
export interface ObservedRequest {
  /** Its span; absent if the observer records none. */
  readonly span?: TraceIds;
  /** Runs `work`; the calls of the store in it, and in what it awaits, are children of the span. */
  run?<Result>(work: () => Result): Result;
  /** Called once: when the response is sent, or when the client has disconnected. */
  end(entry: RequestEntry): void;
}

/** A span and its trace, in lower-case hexadecimal (W3C Trace Context, section 3.2.2). Neither is all zero. */
export interface TraceIds {
  /** 32 digits. */
  readonly traceId: string;
  /** 16 digits. */
  readonly spanId: string;
}

/** The span of the client that sent a request. */
export interface RemoteSpan extends TraceIds {
  /** Whether the client may have recorded its span. */
  readonly isSampled: boolean;
}

/**
 * What is known at the end of a request. The only texts that its client chose are the request id and the ids of the
 * trace, which have a fixed form.
 */
export interface RequestEntry {
  readonly requestId: string;
  /** The span of the request if traces are recorded, else that of the client. Undefined if there is neither. */
  readonly trace: TraceIds | undefined;
  readonly method: string;
  /** The template of the route, or `unknown`. */
  readonly route: string;
  /** The API version of the route. Undefined if no route was found. */
  readonly version: number | undefined;
  /** The path of the URL. Undocumented segments of a path that does not exist are replaced by `*`. */
  readonly path: string;
  /** Undefined if no response was sent. */
  readonly status: number | undefined;
  /** Whether the client received the whole response. */
  readonly complete: boolean;
  readonly durationMs: number;
  /** How much of it the request waited for a change, as its client wished. Undefined if it did not wait. */
  readonly waitedMs: number | undefined;
  /** The length of the response with its head, before encryption: what was passed to the connection. */
  readonly responseBytes: number;
  /** The id of the principal. Undefined for a request without one. */
  readonly principal: string | undefined;
  /** The code of the error that was the response. */
  readonly errorCode: string | undefined;
  /** Whether the API version of the route is deprecated. */
  readonly isDeprecated: boolean;
  /** The number of creations that an idempotency key recognised as repeated; several in an import. */
  readonly replays: number;
}

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

/** Runs a call of a store, of whose begin and end the observers learn. */
export async function observeCall<Result>(
  observers: readonly Observer[],
  call: StoreCall,
  run: () => Promise<Result>,
): Promise<Result> {
  const ends = observers.map((observer) => observer.storeCall?.(call));
  let failure: unknown;
  try {
    return await run();
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    for (const end of ends) end?.(failure);
  }
}

/** The methods that some route serves (RFC 9110 section 9.3, RFC 5789). */
export const SERVED_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Every method of HTTP. Metrics and traces show any other as `_OTHER`. */
export const HTTP_METHODS: readonly string[] = [...SERVED_METHODS, 'CONNECT', 'TRACE'];
