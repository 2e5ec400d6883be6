import { exponentialWait, MAX_WAIT_MS, requestedWait, sleep, unlessAborted, withJitter } from './backoff.js';
import { certificateError, errorOf, UnknownOutcomeError } from './errors.js';
import { isRetryable, isSafe, isStream } from './is-retryable.js';

export type Fetch = (request: Request) => Promise<Response>;

export interface RetryOptions {
  /** The most retries of a call; 5 by default. */
  readonly maxRetries?: number;
  /** The longest wait before a retry; 60,000 by default. If the service requests more, its error is passed on. */
  readonly maxWaitMs?: number;
  /**
   * Whether an error of `fetch` is the response of the service, which a retry would get again. Default: it is a lost
   * response.
   */
  readonly isAnswer?: (failure: unknown) => boolean;
  /** The statuses after which a retry may succeed. Default: 429 and 503. */
  readonly temporary?: readonly number[];
  /** Replaces the wait in tests. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Replaces the random number in tests: at least 0, less than 1. */
  readonly random?: () => number;
}

/** The outcome of one attempt: a response, or the error of `fetch`. */
type Outcome = { readonly response: Response } | { readonly failure: unknown };

/**
 * Returns a `fetch` that retries after 429 and 503 and after a lost response, if a retry does no harm.
 * @param prepare called with each attempt before it is sent; its errors end the call
 */
export function retrying(
  fetch: Fetch,
  prepare: (attempt: Request) => Promise<void>,
  options: RetryOptions = {},
): Fetch {
  const { maxRetries = 5, temporary = [429, 503], sleep: wait = sleep } = options;
  return async (request) => {
    /** The error of the first attempt that may have been carried out. */
    let uncertain: unknown;
    for (let retry = 0; ; retry++) {
      const outcome = await sendOnce(fetch, prepare, request);
      if ('response' in outcome && !temporary.includes(outcome.response.status)) {
        if (uncertain !== undefined && wouldFollowSuccess(request, outcome.response))
          throw new UnknownOutcomeError(uncertain);
        return outcome.response;
      }
      const ms = waitAfter(outcome, retry, options);
      const isLast = retry >= maxRetries || ms === undefined || !mayRetry(request, outcome);
      if (isLast || ('failure' in outcome && options.isAnswer?.(outcome.failure))) return finalResult(outcome);
      uncertain ??= await uncertaintyOf(request, outcome);
      await wait(ms, request.signal);
    }
  };
}

async function sendOnce(
  fetch: Fetch,
  prepare: (attempt: Request) => Promise<void>,
  request: Request,
): Promise<Outcome> {
  const attempt = isStream(request) ? request : request.clone();
  await unlessAborted(prepare(attempt), request.signal);
  try {
    return { response: await readDocument(await fetch(attempt)) };
  } catch (failure) {
    if (request.signal.aborted) throw failure;
    const rejected = certificateError(failure, request.url);
    if (rejected) throw rejected;
    return { failure };
  }
}

/** Reads the body of a document, so that an interrupted body is a failed attempt. Does not read streams. */
async function readDocument(response: Response): Promise<Response> {
  const type = response.headers.get('Content-Type') ?? '';
  if (response.body === null || !/^application\/(problem\+)?json\b/.test(type)) return response;
  return new Response(await response.arrayBuffer(), response);
}

/** The wait before the next attempt in milliseconds; undefined if it would be too long. */
function waitAfter(outcome: Outcome, retry: number, options: RetryOptions): number | undefined {
  const { maxWaitMs = 60_000, random = Math.random } = options;
  const requested = 'response' in outcome ? requestedWait(outcome.response, Date.now()) : undefined;
  if (requested === undefined) return exponentialWait(retry, maxWaitMs, random);
  return requested > Math.min(maxWaitMs, MAX_WAIT_MS) ? undefined : withJitter(requested, random);
}

/** After 429 nothing was carried out, so every request may be retried. */
function mayRetry(request: Request, outcome: Outcome): boolean {
  if (isStream(request)) return false;
  return isRetryable(request) || ('response' in outcome && outcome.response.status === 429);
}

/** The error of an attempt that may have been carried out; undefined if it had no effect. */
async function uncertaintyOf(request: Request, outcome: Outcome): Promise<unknown> {
  if ('failure' in outcome) return isSafe(request) ? undefined : outcome.failure;
  const error = await errorOf(outcome.response);
  return isSafe(request) || outcome.response.status === 429 ? undefined : error;
}

/** Whether a retry gets this response if the first attempt was carried out. */
function wouldFollowSuccess({ method, headers }: Request, { status }: Response): boolean {
  return (
    (status === 412 && (headers.has('If-Match') || headers.has('If-None-Match'))) ||
    (status === 404 && method === 'DELETE')
  );
}

function finalResult(outcome: Outcome): Response {
  if ('failure' in outcome) throw outcome.failure;
  return outcome.response;
}
