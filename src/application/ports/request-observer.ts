/** Learns of every request: the access log, the metrics, the usage of API keys. Its methods must not throw. */
export interface RequestObserver {
  /** Called when a request arrives. */
  begin?(): void;
  /** Called once for each request that began: when its response is sent, or when its client has disconnected. */
  end(entry: RequestEntry): void;
}

/** What is known at the end of a request. Texts may contain anything: an observer that shows them redacts secrets. */
export interface RequestEntry {
  readonly requestId: string;
  readonly method: string;
  /** The template of the route, or `unknown`. */
  readonly route: string;
  /** The API version of the route. Undefined if no route was found. */
  readonly version: number | undefined;
  readonly path: string;
  /** Undefined if no response was sent. */
  readonly status: number | undefined;
  /** Whether the client received the whole response. */
  readonly complete: boolean;
  readonly durationMs: number;
  /** The id of the principal. Undefined for a request without one. */
  readonly principal: string | undefined;
  /** The code of the error that was the response. */
  readonly errorCode: string | undefined;
  /** Whether the API version of the route is deprecated. */
  readonly isDeprecated: boolean;
  /** The number of creations that an idempotency key recognised as repeated; several in an import. */
  readonly replays: number;
}
