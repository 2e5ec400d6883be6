import type { RequestEntry, TraceIds } from './request-observer.js';

/** The span of the client that sent a request. */
export interface RemoteSpan extends TraceIds {
  /** Whether the client may have recorded its span. */
  readonly isSampled: boolean;
}

/** Records the span of each request. Its methods and those of its spans must not throw. */
export interface RequestTracer {
  /**
   * Begins the span of a request that arrives.
   * @param parent undefined: the span begins a trace
   */
  beginSpan(method: string, parent: RemoteSpan | undefined): RequestSpan;
}

/** The span of one request. */
export interface RequestSpan {
  readonly ids: TraceIds;
  /** Runs `work`; the calls of the store in it, and in what it awaits, are children of this span. */
  run<Result>(work: () => Result): Result;
  /** Called once, with what the observers of requests get. */
  end(entry: RequestEntry): void;
}
