import type Koa from 'koa';
import type { TraceIds } from '../../../../application/ports/observer.js';
import type { Principal } from '../../../../domain/access.js';
import type { Permit } from '../../../../shared/fair-semaphore.js';
import type { MaybePromise } from '../../../../shared/promises.js';
import type { PublicUrl } from '../../../../shared/public-url.js';
import type { ConcurrencyLimits } from './concurrency-limits.js';

/** An API version of a path. */
export interface ApiVersion {
  readonly number: number;
  /** All versions of the path, in ascending order. */
  readonly all: readonly number[];
  /** If this version is deprecated: its deprecation headers, and the next version. */
  readonly deprecation?: VersionDeprecation & { readonly successor: number };
}

/** The headers that announce the removal of a version. */
export interface VersionDeprecation {
  readonly headers: Readonly<Record<string, string>>;
}

/** A content coding (RFC 9110 section 8.4.1). */
export type Coding = 'br' | 'gzip';

/** A document that caches its compressed forms. */
export interface CompressedDocument {
  compressedBy(coding: Coding): Promise<Buffer>;
}

/** The state of a request, which the middleware permits. */
export interface RequestState {
  requestId: string;
  /** As in the log. Absent if the request belongs to no trace. */
  trace?: TraceIds | undefined;
  /** The template of the route, such as `/v1/products/{id}`. Absent if the path does not exist. */
  route?: string;
  /** The value of the key in the path; see `PathKey`. */
  pathKey?: string;
  /** The API version of the route. Absent before a route is found. */
  version?: ApiVersion;
  /** Identifies a client without a principal, for limits: its IPv4 address, or the /64 of its IPv6 address. */
  address: string;
  /** Returns the address of a path, for clients; see {@link PublicUrl.addressOf}. */
  addressOf: PublicUrl['addressOf'];
  principal?: Principal;
  /** The generation of the store that the tags of this request have. Absent if the store has none. */
  generation?: string | undefined;
  /**
   * Throws if the client may not do this any more, for requests that take long: its key may have been revoked or have
   * expired. Absent if the route is public.
   */
  checkAccess?: () => MaybePromise<void>;
  /** Set if the operation reads the header and the client sent it. */
  idempotencyKey?: string | undefined;
  errorCode?: string;
  /** How many creations were recognised as repeated. */
  replays?: number;
  /** Whether this is a CORS preflight from an allowed origin. */
  isPreflight?: boolean;
  limits: ConcurrencyLimits;
  /** How long the request has waited for a change, in milliseconds. */
  waitedMs?: number;
  /** The permits of {@link limits} that the request holds. */
  permits: Permit[];
  /** The permit that was reserved for the response before it was built, if any. */
  responsePermit?: Permit;
  /** The static document that is sent, if any. */
  document?: CompressedDocument;
  /** Whether `100 Continue` was sent. */
  continued?: boolean;
}

export type Context = Koa.ParameterizedContext<RequestState>;

/** Runs the rest of the middleware. */
export type Next = () => MaybePromise<void>;

/** A middleware of Koa. It returns a promise only if it awaits something; see `koaListener`. */
export type Middleware = (ctx: Context, next: Next) => MaybePromise<void>;
