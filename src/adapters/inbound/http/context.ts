import type Koa from 'koa';
import type { Principal } from '../../../domain/access.js';
import type { Share } from '../../../shared/fair-shares.js';
import type { CodedDocument } from './middleware/compression-codecs.js';
import type { ApiVersion } from './versioning/api-version.js';
import type { WorkLimits } from './work-limits.js';

/** The state of a request that the middlewares share. */
export interface RequestState {
  requestId: string;
  /** The template of the route, such as `/v1/products/{id}`. Absent for a path that does not exist. */
  route?: string;
  /** The version of the route. Absent: the first version. */
  version?: ApiVersion;
  /** The unit of limits for a client without a principal: its IPv4 address, or the /64 of its IPv6 address. */
  address: string;
  principal?: Principal;
  /** Set if the operation reads the header and the client sent it. */
  idempotencyKey?: string | undefined;
  /** Whether this is a CORS preflight of an origin that may read the responses. */
  isPreflight?: boolean;
  /** The limits of concurrent work. */
  limits: WorkLimits;
  /** The shares of those limits that the request holds. */
  shares: Share[];
  /** The share for the response, if it was reserved before the response was made. */
  room?: Share;
  /** The static document that is sent, if any. */
  document?: CodedDocument;
  /** Whether `100 Continue` was sent. */
  continued?: boolean;
}

export type Context = Koa.ParameterizedContext<RequestState>;
export type Middleware = Koa.Middleware<RequestState>;
