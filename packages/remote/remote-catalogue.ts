import { type Catalogue, createCatalogue } from '#packages/client/index.js';
import { RequestRefused } from './errors.js';
import { httpsFetch } from './https-fetch.js';

/** A running service, and what a command needs to use it. */
export interface RemoteOptions {
  /** Its https address, without a slash at the end. It has a path if a proxy removes one. */
  readonly url: string;
  /** A bearer token (RFC 6750), such as an API key. */
  readonly token: string;
  /** Certificates of CAs to trust besides the public ones, in PEM. */
  readonly authorities: readonly string[];
}

/** Returns a client that repeats no request but for changes, and throws RequestRefused and Unavailable as {@link httpsFetch} does. */
export function remoteCatalogue({ url, token, authorities }: RemoteOptions): Catalogue {
  const fetch = httpsFetch(url, authorities);
  return createCatalogue({ baseUrl: url, token, fetch, retry: { maxRetries: 0, isAnswer } });
}

const TEMPORARY: readonly number[] = [429, 502, 503, 504];

function isAnswer(failure: unknown): boolean {
  return failure instanceof RequestRefused && !TEMPORARY.includes(failure.status);
}
