import type Koa from 'koa';
import type { Principal } from '../../../domain/access.js';
import type { Share } from '../../../shared/fair-shares.js';
import type { CodedDocument } from './middleware/compression-codecs.js';
import type { ApiVersion } from './versioning/api-version.js';
import type { WorkBounds } from './work-bounds.js';

/** What the middlewares tell each other of a request. */
export interface RequestState {
  requestId: string;
  /** The path's pattern, such as `/v1/products/{id}`; absent for a path that does not exist. */
  route?: string;
  /** What the address was found to be; absent: the first version. */
  version?: ApiVersion;
  /** What a client without a principal is limited by: its IPv4 address, or the /64 of its IPv6 address. */
  address: string;
  principal?: Principal;
  /** As it was sent, where the operation heeds one. */
  idempotencyKey?: string | undefined;
  /** Whether a browser asks what a script of an origin that may read the answers may do here. */
  isPreflight?: boolean;
  /** What its client may have under way. */
  bounds: WorkBounds;
  /** What the request holds of it. */
  shares: Share[];
  /** One of these: for the response, reserved before it was made. */
  room?: Share;
  /** What is sent, if it is a document that is kept. */
  document?: CodedDocument;
  /** Whether `100 Continue` was sent. */
  continued?: boolean;
}

export type Context = Koa.ParameterizedContext<RequestState>;
export type Middleware = Koa.Middleware<RequestState>;
