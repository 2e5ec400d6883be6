import type { RequestListener } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import Koa from 'koa';
import type { Clock } from '../../../../application/ports/clock.js';
import type { Logger } from '../../../../application/ports/logger.js';
import type { Observer } from '../../../../application/ports/observer.js';
import { notFound, unavailable } from '../../../../domain/errors.js';
import { andThen, catchErrors, type MaybePromise } from '../../../../shared/promises.js';
import type { PublicUrl } from '../../../../shared/public-url.js';
import type { ConcurrencyLimits } from '../core/concurrency-limits.js';
import type { Context, Middleware, RequestState } from '../core/context.js';
import { errorResponse, HttpError, toCodedError } from '../core/http-error.js';
import { JSON_TYPE, JSON_UTF8, PROBLEM } from '../core/media-types.js';
import { FIRST_VERSION, isProbe, type Route, versionOf } from '../core/route.js';
import { type AccessControl, bearerChallenge, countRequest } from '../middleware/authenticate.js';
import { type ClientAddress, requestLimits, responseLimits } from '../middleware/limits.js';
import { preferredType } from '../middleware/negotiation.js';
import { loggedIds, observe } from '../middleware/observe.js';
import { responseHeaders } from '../middleware/response-headers.js';
import { metadataUrl } from '../oauth/metadata-routes.js';
import { connectionOf } from '../server/connection.js';
import { shedLoad } from '../server/load-shedding.js';
import { routeHandler, routeIndex } from './route-handler.js';

export interface AppDependencies {
  /** `directAddress` or `proxiedAddress`. */
  readonly clientAddress: ClientAddress;
  /** The setting `CORS_ORIGINS`. */
  readonly corsOrigins: string;
  readonly accessControl: AccessControl;
  readonly routes: readonly Route[];
  /** Makes the addresses in responses. */
  readonly publicUrl: Pick<PublicUrl, 'url' | 'addressOf'>;
  /** Learn of every request. */
  readonly observers: readonly Observer[];
  readonly logger: Logger;
  readonly clock: Clock;
  readonly isDraining: () => boolean;
  /** The limits of concurrent work per client. */
  readonly limits: ConcurrencyLimits;
}

/** Returns the listener of a server. A request passes the middleware from top to bottom, then its route. */
export function createApp(deps: AppDependencies): RequestListener {
  const { logger, routes, limits, accessControl, publicUrl } = deps;
  const handlers = routes.map((route) => {
    return { ...route, handle: routeHandler(route, versionOf(route, routes), accessControl) };
  });
  const challenge = bearerChallenge(() => metadataUrl(publicUrl));
  const respondErrors = errors(logger, challenge);
  const observed: readonly Middleware[] = [
    // The id of the request, CORS, no caching, deprecation and the end of the connection, on errors too.
    responseHeaders({ ...deps, addressOf: (path) => publicUrl.addressOf(path) }),
    // The access log, metrics and traces, of refused requests too.
    observe(deps),
  ];
  const middleware: readonly Middleware[] = [
    ...observed,
    // The bytes of responses that clients have not received yet, and how long they take. Errors count too.
    responseLimits(limits, respondErrors),
    respondErrors,
    // Where the request comes from, 403 if it bypassed the proxy; the sizes of the target and the headers: 414, 431.
    requestLimits(deps.clientAddress),
    // Most requests end here.
    routeIndex(handlers),
    // 404. It counts, so that nobody tries paths without a limit.
    (ctx) => andThen(isProbe(ctx.req) ? undefined : countRequest(ctx, accessControl.limiter), refuseUnknownPath),
  ];
  const onError: Parameters<typeof koaListener>[1] = (error, { state }) => {
    if (!isClientGone(error)) logger.warn('response aborted', { ...loggedIds(state), error });
  };
  const serve = koaListener(middleware, onError);
  const shedding = shedLoad({
    serve,
    refuse: koaListener([...observed, respondErrors, requestLimits(), refuseOverload], onError),
    networkOf: ({ socket }) => connectionOf(socket).peer.network,
  });
  // A process that is busy but alive must not be restarted, nor lose its traffic to others that are as busy.
  return (request, response) => (isProbe(request) ? serve : shedding)(request, response);
}

function refuseUnknownPath(): never {
  throw notFound();
}

/** Made once, because the stack of an error is costly, and an overloaded service has no time to lose. */
const OVERLOADED = unavailable('The service has more requests than it can serve. Try again later.');

const refuseOverload: Middleware = () => {
  throw OVERLOADED;
};

const DISCONNECT_CODES: readonly (string | undefined)[] = ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE'];

/** Disconnects are not logged here, because the access log says that the response is incomplete. */
function isClientGone(error: unknown): boolean {
  return DISCONNECT_CODES.includes((error as NodeJS.ErrnoException | null)?.code);
}

/** The metrics in the format of Prometheus. */
export interface MetricsReport {
  readonly contentType: string;
  text(): Promise<string>;
}

export interface ManagementDependencies {
  /** Probes. */
  readonly routes: readonly Route[];
  readonly metrics: MetricsReport;
  readonly logger: Logger;
  readonly isDraining: () => boolean;
}

/** Returns the listener for operators: no token, no rate limit, and no access log. */
export function createManagementApp({ routes, metrics, logger, isDraining }: ManagementDependencies) {
  const probes = routes.map((route) => ({ ...route, handle: routeHandler(route, FIRST_VERSION) }));
  const report = { template: '/metrics', path: /^\/metrics$/, handle: respondMetrics(metrics) };
  const middleware: readonly Middleware[] = [
    responseHeaders({ isDraining }),
    errors(logger),
    requestLimits(),
    routeIndex([...probes, report]),
    refuseUnknownPath,
  ];
  return koaListener(middleware, (error) => logger.warn('response aborted', { error }));
}

/**
 * Responds in one format and ignores `Accept` (RFC 9110 section 12.4.1), because scrapers list many formats, and some
 * do not list JSON.
 */
function respondMetrics(metrics: MetricsReport): Middleware {
  return async (ctx) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD');
      throw new HttpError('method_not_allowed', `${ctx.method} cannot be used here; see Allow.`);
    }
    const text = await metrics.text();
    ctx.set('Content-Type', metrics.contentType);
    ctx.body = text;
  };
}

/**
 * Turns every thrown error into a response. Keeps the headers that are already set.
 * @param prepare sets headers for an error first
 */
export function errors(logger: Logger, prepare: (ctx: Context, error: unknown) => void = () => {}): Middleware {
  return (ctx, next) =>
    catchErrors(next, (thrown) => {
      prepare(ctx, thrown);
      const error = toCodedError(thrown);
      ctx.state.errorCode = error.code;
      if (error.cause !== undefined) logger.error(error.code, { ...loggedIds(ctx.state), error: error.cause });
      const type = preferred(ctx) === PROBLEM ? PROBLEM : JSON_TYPE;
      const { status, headers, body } = errorResponse(error, type);
      ctx.remove('Link');
      // The body that was compressed is not sent.
      ctx.remove('Content-Encoding');
      // A 404 does not reveal the methods of the resource.
      if (error.code === 'not_found') ctx.remove('Accept-Patch');
      ctx.set(headers);
      ctx.vary('Accept');
      ctx.status = status;
      ctx.body = body;
    });
}

const preferred = preferredType([JSON_UTF8, PROBLEM]);

// How the chain runs, and how its result is sent.

/** A larger body is sent in slices of this size. */
const SLICE_BYTES = 131_072;

/**
 * Serves requests with Koa's context and a chain of middleware. By hand, because Koa's `callback` makes promises,
 * listeners and copies of headers for every request, which cost more than the rest of the request. Differences:
 * - A middleware runs without a promise until it awaits something: it writes `andThen(next(), …)` instead of `await
 *   next()`, and `catchErrors(next, …)` instead of `try`.
 * - A body is a string, a Buffer, a stream or absent. The handler sets its `Content-Type`.
 * - Errors of a connection are reported only while a stream is sent.
 * @param onError gets each error that the middleware did not handle
 */
export function koaListener(
  chain: readonly Middleware[],
  onError: (error: unknown, ctx: Context) => void,
): RequestListener {
  const app = new Koa<RequestState>();
  app.silent = true;
  app.on('error', onError);
  Object.assign(app.context, { set: setHeaders });
  return (request, response) => {
    const ctx = app.createContext<RequestState>(request, response) as Context;
    response.statusCode = 404;
    const run = (at: number): MaybePromise<void> => chain[at]?.(ctx, () => run(at + 1));
    catchErrors(
      () => andThen(run(0), () => respond(ctx)),
      (error) => ctx.onerror(error as Error),
    );
  };
}

/** Sets headers like Koa's `ctx.set`. */
function setHeaders(this: Context, field: string | Readonly<Record<string, string>>, value?: string): void {
  const { res } = this;
  if (res.headersSent) return;
  if (typeof field === 'string') res.setHeader(field, value ?? '');
  else for (const [name, text] of Object.entries(field)) res.setHeader(name, text);
}

/** The status codes of responses without content (RFC 9110 section 6.4.1). */
function hasNoContent(status: number): boolean {
  return status === 204 || status === 304;
}

function respond(ctx: Context): void {
  const { res, method } = ctx;
  const body = ctx.body as string | Buffer | Readable | null | undefined;
  if (!ctx.writable) res.end();
  else if (body === null || body === undefined || hasNoContent(res.statusCode)) respondWithoutBody(ctx);
  else if (method === 'HEAD') res.end();
  else if (body instanceof Readable) {
    pipeline(body, res, (error) => {
      if (error) ctx.onerror(error);
    });
  } else if (body.length <= SLICE_BYTES) res.end(body);
  else respondInSlices(ctx, typeof body === 'string' ? Buffer.from(body) : body);
}

/** TLS encrypts and copies whatever it is given at once, so a page that is passed on whole is in memory twice. */
function respondInSlices({ res }: Context, body: Buffer): void {
  res.setHeader('Content-Length', body.length);
  const slices = Readable.from(slicesOf(body), { objectMode: false, highWaterMark: SLICE_BYTES });
  // The slices cannot fail. The log of requests reports a client that disconnects, as with `end`.
  pipeline(slices, res, () => {});
}

function* slicesOf(body: Buffer): Generator<Buffer, void, void> {
  for (let at = 0; at < body.length; at += SLICE_BYTES) yield body.subarray(at, at + SLICE_BYTES);
}

function respondWithoutBody({ res }: Context): void {
  res.removeHeader('Content-Type');
  if (hasNoContent(res.statusCode)) res.removeHeader('Content-Length');
  else res.setHeader('Content-Length', 0);
  res.end();
}
