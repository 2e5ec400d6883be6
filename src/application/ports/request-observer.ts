/** Learns of every request: the access log, the metrics, the usage of API keys. Its methods must not throw. */
export interface RequestObserver {
  /** Called when a request arrives. */
  begin?(): void;
  /** Called once for each request that began: when its response is sent, or when its client has disconnected. */
  end(entry: RequestEntry): void;
}

/** A span and its trace, in lower-case hexadecimal (W3C Trace Context, section 3.2.2). Neither is all zero. */
export interface TraceIds {
  /** 32 digits. */
  readonly traceId: string;
  /** 16 digits. */
  readonly spanId: string;
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
