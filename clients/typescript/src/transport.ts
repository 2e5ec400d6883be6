import { errorOf } from './errors.js';
import { isStream } from './is-retryable.js';
import { addressOf } from './link-header.js';
import { type Fetch, type RetryOptions, retrying } from './retry.js';

export type Token = string | (() => string | Promise<string>);

export interface TransportOptions {
  /** Of the service, perhaps with a path: `https://localhost:8443`. */
  readonly baseUrl: string | URL;
  /** An API key or access token, or what gives one; it is asked before each try. Absent: what is public. */
  readonly token?: Token | undefined;
  /** In place of the global `fetch`, for instance to trust another authority. */
  readonly fetch?: Fetch;
  readonly retry?: RetryOptions;
}

export interface Call {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | ReadableStream<Uint8Array>;
  readonly signal?: AbortSignal | undefined;
  /** Past what caches hold. */
  readonly fresh?: boolean;
}

/** The service never leads elsewhere: whoever does shall see neither what is sent nor a client's secret. */
export const REDIRECT = 'manual';

/** What can stand in a header. */
const SENDABLE = /^[\x21-\x7e]*$/;

/** Sends requests, each until it has an answer that counts. */
export class Transport {
  readonly base: URL;
  readonly send: Fetch;

  constructor({ baseUrl, token, fetch = (request) => globalThis.fetch(request), retry }: TransportOptions) {
    this.base = new URL(baseUrl, globalThis.location?.href);
    const sending = retrying(fetch, (tried) => authorize(tried, token), retry);
    this.send = (request) => sending(keyed(request));
  }

  /**
   * @param reference a path, or what the service refers to
   * @throws AppError where the answer is none of success
   */
  async call(
    method: string,
    reference: string,
    { headers = {}, body, signal, fresh }: Call = {},
  ): Promise<Response> {
    const init = {
      method,
      headers,
      body: body ?? null,
      signal: signal ?? null,
      cache: fresh ? 'no-cache' : 'default',
      redirect: REDIRECT,
      // Streams in Node and in browsers want it to be said.
      ...(body instanceof ReadableStream && { duplex: 'half' }),
    } satisfies RequestInit & { duplex?: string };
    const response = await this.send(new Request(addressOf(this.base, reference), init));
    if (!isSuccess(response)) throw await errorOf(response);
    return response;
  }
}

async function authorize(tried: Request, token: Token | undefined): Promise<void> {
  const value = typeof token === 'function' ? await token() : token;
  if (value === undefined) return;
  // The headers would tell it in their own error.
  if (!SENDABLE.test(value.trim())) throw new TypeError('The token has characters that no token has');
  tried.headers.set('Authorization', `Bearer ${value}`);
}

/** A page in place of an answer comes as a success too. */
function isSuccess({ ok, status, headers }: Response): boolean {
  const type = headers.get('Content-Type') ?? '';
  return ok && (status === 204 || /^application\/(json|x-ndjson)\b/.test(type));
}

/** One key for all tries of a creation. A stream, which is sent once, has one where its sender wants to send it again. */
function keyed(request: Request): Request {
  if (request.method === 'POST' && !isStream(request) && !request.headers.has('Idempotency-Key'))
    request.headers.set('Idempotency-Key', crypto.randomUUID());
  return request;
}
