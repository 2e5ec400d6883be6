import { LONGEST_WAIT_MS, pause, requestedWait, sleep, spread, unlessAborted } from './backoff.js';
import { errorOf, UnknownOutcomeError } from './errors.js';
import { isRepeatable, isSafe, isStream } from './is-retryable.js';

export type Fetch = (request: Request) => Promise<Response>;

export interface RetryOptions {
  /** How often a call is repeated at the most; 5. */
  readonly maxRetries?: number;
  /** The longest wait before a repetition, 60,000. Where the service asks for more, its refusal is the answer. */
  readonly maxWaitMs?: number;
  /** In place of waiting, for tests. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** In place of chance, for tests: from 0 to less than 1. */
  readonly random?: () => number;
}

/** What came of one try: an answer, or none. */
type Outcome = { readonly response: Response } | { readonly failure: unknown };

/**
 * Repeats what the service put off (429, 503) and what got lost, where a repetition does no harm.
 * @param prepare what is done to each try; its errors end the call
 */
export function retrying(
  fetch: Fetch,
  prepare: (tried: Request) => Promise<void>,
  options: RetryOptions = {},
): Fetch {
  const { maxRetries = 5, sleep: wait = sleep } = options;
  return async (request) => {
    let doubt: unknown;
    for (let retry = 0; ; retry++) {
      const outcome = await attempt(fetch, prepare, request);
      if ('response' in outcome && !isPutOff(outcome.response)) {
        if (doubt !== undefined && wouldFollowSuccess(request, outcome.response))
          throw new UnknownOutcomeError(doubt);
        return outcome.response;
      }
      const ms = waitAfter(outcome, retry, options);
      if (retry >= maxRetries || ms === undefined || !mayRepeat(request, outcome)) return ended(outcome);
      doubt ??= await doubtOf(request, outcome);
      await wait(ms, request.signal);
    }
  };
}

async function attempt(
  fetch: Fetch,
  prepare: (tried: Request) => Promise<void>,
  request: Request,
): Promise<Outcome> {
  const tried = isStream(request) ? request : request.clone();
  await unlessAborted(prepare(tried), request.signal);
  try {
    return { response: await received(await fetch(tried)) };
  } catch (failure) {
    if (request.signal.aborted) throw failure;
    return { failure };
  }
}

/** Documents are read here, so that one that breaks off is a failure like any other; streams are not. */
async function received(response: Response): Promise<Response> {
  const type = response.headers.get('Content-Type') ?? '';
  if (response.body === null || !/^application\/(problem\+)?json\b/.test(type)) return response;
  return new Response(await response.arrayBuffer(), response);
}

function isPutOff({ status }: Response): boolean {
  return status === 429 || status === 503;
}

/** Undefined where it would be too long. */
function waitAfter(outcome: Outcome, retry: number, options: RetryOptions): number | undefined {
  const { maxWaitMs = 60_000, random = Math.random } = options;
  const requested = 'response' in outcome ? requestedWait(outcome.response, Date.now()) : undefined;
  if (requested === undefined) return pause(retry, maxWaitMs, random);
  return requested > Math.min(maxWaitMs, LONGEST_WAIT_MS) ? undefined : spread(requested, random);
}

/** What was refused by 429 was not done, whatever it is; all else may have been. */
function mayRepeat(request: Request, outcome: Outcome): boolean {
  if (isStream(request)) return false;
  return isRepeatable(request) || ('response' in outcome && outcome.response.status === 429);
}

async function doubtOf(request: Request, outcome: Outcome): Promise<unknown> {
  if ('failure' in outcome) return isSafe(request) ? undefined : outcome.failure;
  const error = await errorOf(outcome.response);
  return isSafe(request) || outcome.response.status === 429 ? undefined : error;
}

/** The refusals that a repetition gets where the first try was carried out. */
function wouldFollowSuccess({ method, headers }: Request, { status }: Response): boolean {
  return (status === 412 && headers.has('If-Match')) || (status === 404 && method === 'DELETE');
}

function ended(outcome: Outcome): Response {
  if ('failure' in outcome) throw outcome.failure;
  return outcome.response;
}
