import { sleep } from './backoff.js';
import { errorOf } from './errors.js';
import { isStream } from './is-retryable.js';
import { prefixOf, resolveUrl } from './link-header.js';
import { type Fetch, type RetryOptions, retrying } from './retry.js';

export type Token = string | (() => string | Promise<string>);

export interface TransportOptions {
  /** The URL of the service, with a path if a proxy serves it under one, such as `https://localhost:8443`. */
  readonly baseUrl: string | URL;
  /** An API key or access token, or a function that is called for one before each attempt. Public access needs none. */
  readonly token?: Token | undefined;
  /** Replaces the global `fetch`, for instance to trust another CA. */
  readonly fetch?: Fetch;
  readonly retry?: RetryOptions;
}

export interface Call {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Blob | ReadableStream<Uint8Array>;
  readonly signal?: AbortSignal | undefined;
  /** Bypasses caches. */
  readonly noCache?: boolean;
}

const globalFetch: Fetch = (request) => globalThis.fetch(request);

/** Redirects are not followed: the service sends none, and another server must not get records or secrets. */
export const REDIRECT = 'manual';

/** The characters that a header may contain. */
const TOKEN_CHARACTERS = /^[\x21-\x7e]*$/;

/** Sends requests, and retries them by the rules of {@link retrying}. */
export class Transport {
  readonly base: URL;
  readonly send: Fetch;
  private readonly options: TransportOptions;

  constructor(options: TransportOptions) {
    const { baseUrl, token, fetch = globalFetch, retry } = options;
    this.options = options;
    this.base = new URL(baseUrl, globalThis.location?.href);
    const sendWithRetries = retrying(fetch, (attempt) => authorize(attempt, token), retry);
    this.send = (request) => sendWithRetries(withIdempotencyKey(request));
  }

  /**
   * Returns a transport that retries until there is a response.
   * @param attemptMs after which an attempt is lost
   */
  patient(attemptMs: number): Transport {
    const { fetch = globalFetch, retry, ...rest } = this.options;
    return new Transport({
      ...rest,
      // A proxy says 502 or 504 while the service starts again.
      retry: { ...retry, maxRetries: Number.POSITIVE_INFINITY, temporary: [429, 502, 503, 504] },
      fetch: (request) => {
        const signal = AbortSignal.any([request.signal, AbortSignal.timeout(attemptMs)]);
        return fetch(new Request(request, { signal }));
      },
    });
  }

  /** @throws the signal's reason as soon as it is aborted */
  pause(ms: number, signal = new AbortController().signal): Promise<void> {
    return (this.options.retry?.sleep ?? sleep)(ms, signal);
  }

  /** The address of a path of the service, which begins with the path of {@link base}. */
  readonly addressOf = (path: string): string => prefixOf(this.base) + path;

  /**
   * @param reference from {@link addressOf}, or in a response
   * @throws CatalogueError if the response is not a success
   */
  async call(method: string, reference: string, { headers = {}, body, signal, noCache }: Call = {}): Promise<Response> {
    const init = {
      method,
      headers,
      body: body ?? null,
      signal: signal ?? null,
      cache: noCache ? 'no-cache' : 'default',
      redirect: REDIRECT,
      // Node and browsers require it for streams.
      ...(body instanceof ReadableStream && { duplex: 'half' }),
    } satisfies RequestInit & { duplex?: string };
    const response = await this.send(new Request(resolveUrl(this.base, reference), init));
    if (!isSuccess(response)) throw await errorOf(response);
    return response;
  }
}

async function authorize(attempt: Request, token: Token | undefined): Promise<void> {
  const value = typeof token === 'function' ? await token() : token;
  if (value === undefined) return;
  // The error of Headers would quote the token.
  if (!TOKEN_CHARACTERS.test(value.trim())) throw new TypeError('The token has characters that no token has');
  attempt.headers.set('Authorization', `Bearer ${value}`);
}

/** Whether the service itself reports a success: the web page of a proxy may have a status of success too. */
function isSuccess({ ok, status, headers }: Response): boolean {
  const type = headers.get('Content-Type') ?? '';
  return ok && (status === 204 || /^(application\/(json|x-ndjson)|text\/csv)\b/.test(type));
}

/**
 * Adds one key for all attempts of a creation. A stream is sent once; its caller may give it a key to send it again.
 */
function withIdempotencyKey(request: Request): Request {
  if (request.method === 'POST' && !isStream(request) && !request.headers.has('Idempotency-Key'))
    request.headers.set('Idempotency-Key', randomKey());
  return request;
}

/** 128 random bits. Pages without HTTPS have no `crypto.randomUUID`. */
function randomKey(): string {
  return crypto.getRandomValues(new BigUint64Array(2)).join('-');
}
