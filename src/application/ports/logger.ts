/** The log of the service. Details contain no secret. */
export interface Logger {
  info(event: string, details?: Readonly<Record<string, unknown>>): void;
  warn(event: string, details?: Readonly<Record<string, unknown>>): void;
  error(event: string, details?: Readonly<Record<string, unknown>>): void;
  /** Logs the end of a request. Its own method, because it is called once for each request. */
  request(entry: RequestEntry): void;
}

/** The line of one request. Texts may contain anything: the logger redacts secrets. */
export interface RequestEntry {
  readonly requestId: string;
  readonly method: string;
  /** The template of the route, or `unknown`. */
  readonly route: string;
  readonly path: string;
  /** Undefined if no response was sent. */
  readonly status: number | undefined;
  /** Whether the client received the whole response. */
  readonly complete: boolean;
  readonly durationMs: number;
  /** Undefined for a request without a principal. */
  readonly principal: string | undefined;
}
