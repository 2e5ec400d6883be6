import type { RequestListener } from 'node:http';
import type { Clock } from '../../../../application/ports/clock.js';
import type { Logger } from '../../../../application/ports/logger.js';
import type { PublicUrl } from '../../../../application/ports/public-url.js';
import type { RequestObserver } from '../../../../application/ports/request-observer.js';
import type { RequestTracer } from '../../../../application/ports/request-tracer.js';
import { notFound, unavailable } from '../../../../domain/errors.js';
import { andThen } from '../../../../shared/maybe-promise.js';
import { versionOf } from '../core/api-version.js';
import type { ConcurrencyLimits } from '../core/concurrency-limits.js';
import type { Middleware } from '../core/context.js';
import { isProbe, type Route } from '../core/route.js';
import type { AccessControl } from '../middleware/authentication.js';
import { compression } from '../middleware/compression.js';
import { connectionClose } from '../middleware/connection-close.js';
import { normalizeAccept } from '../middleware/content-negotiation.js';
import { deprecationHeaders } from '../middleware/deprecation.js';
import { errorHandler } from '../middleware/error-handler.js';
import { noStore } from '../middleware/no-store.js';
import { observeRequests } from '../middleware/observe-requests.js';
import { countRequest } from '../middleware/rate-limit.js';
import { loggedIds, requestId } from '../middleware/request-id.js';
import { requestLimits } from '../middleware/request-limits.js';
import { limitSendingTime, responseLimits } from '../middleware/response-limits.js';
import { bearerChallenge } from '../middleware/www-authenticate.js';
import { metadataUrl } from '../oauth/metadata-routes.js';
import { connectionOf } from '../server/connection.js';
import { shedLoad } from '../server/load-shedding.js';
import { koaListener } from './koa-listener.js';
import { routeHandler } from './route-handler.js';
import { routeIndex } from './route-index.js';

export interface AppDependencies {
  /** Finds the IP address of the client, or rejects the request: `directClientIp` or `proxiedClientIp`. */
  readonly clientIp: Middleware;
  /** Lets scripts of other origins read the responses. */
  readonly cors: Middleware;
  readonly accessControl: AccessControl;
  readonly routes: readonly Route[];
  /** Makes the addresses in responses. */
  readonly publicUrl: Pick<PublicUrl, 'url' | 'addressOf'>;
  /** Learn of every request. */
  readonly observers: readonly RequestObserver[];
  /** Absent: no traces are recorded. */
  readonly tracer?: RequestTracer | undefined;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly isDraining: () => boolean;
  /** The limits of concurrent work per client. */
  readonly limits: ConcurrencyLimits;
}

/** Returns the listener of a server. A request passes the middleware from top to bottom, then its route. */
export function createApp(deps: AppDependencies): RequestListener {
  const { logger, routes, limits, accessControl, isDraining, publicUrl } = deps;
  const handlers = routes.map((route) => {
    return { ...route, handle: routeHandler(route, versionOf(route, routes), accessControl) };
  });
  const observed: readonly Middleware[] = [
    // An id in each response and log line; a request target that is no path becomes `*`.
    requestId,
    // Bounds the time that negotiation takes.
    normalizeAccept,
    // Headers for scripts of other origins, on errors too.
    deps.cors,
    // The access log, metrics and traces, of refused requests too.
    observeRequests(deps),
    // A process that stops lets its clients connect elsewhere.
    connectionClose(isDraining),
  ];
  const errors = errorHandler(
    logger,
    bearerChallenge(() => metadataUrl(publicUrl)),
  );
  const middleware: readonly Middleware[] = [
    ...observed,
    // Handlers make the addresses in responses by it.
    addresses(publicUrl),
    // Deprecation, Sunset and the next version, on errors too.
    deprecationHeaders,
    // A client that does not read its response is disconnected.
    limitSendingTime(),
    // The errors of what follows, up to the second errors.
    errors,
    // No cache keeps what a handler does not allow it to.
    noStore,
    // The address that limits count; 400 if a request bypassed the proxy.
    deps.clientIp,
    // The sizes of the target and the headers: 414, 431.
    requestLimits,
    // The bytes of responses that clients have not received yet.
    responseLimits(limits),
    // Inside the limits of responses, because errors count too.
    errors,
    // Inside the errors, which are not compressed.
    compression,
    // Most requests end here.
    routeIndex(handlers),
    // 404. It counts, so that nobody tries paths without a limit.
    (ctx) =>
      andThen(isProbe(ctx.req) ? undefined : countRequest(ctx, accessControl.limiter), () => {
        throw notFound();
      }),
  ];
  const onError: Parameters<typeof koaListener>[1] = (error, { state }) => {
    if (!isClientGone(error)) logger.warn('response aborted', { ...loggedIds(state), error });
  };
  const serve = koaListener(middleware, onError);
  const shedding = shedLoad({
    serve,
    refuse: koaListener([...observed, errorHandler(logger), requestLimits, refuseOverload], onError),
    networkOf: ({ socket }) => connectionOf(socket).peer.network,
  });
  // A process that is busy but alive must not be restarted, nor lose its traffic to others that are as busy.
  return (request, response) => (isProbe(request) ? serve : shedding)(request, response);
}

/** Made once, because the stack of an error is costly, and an overloaded service has no time to lose. */
const OVERLOADED = unavailable('The service has more requests than it can serve. Try again later.');

const refuseOverload: Middleware = () => {
  throw OVERLOADED;
};

function addresses(publicUrl: Pick<PublicUrl, 'addressOf'>): Middleware {
  const addressOf = (path: string) => publicUrl.addressOf(path);
  return (ctx, next) => {
    ctx.state.addressOf = addressOf;
    return next();
  };
}

const DISCONNECT_CODES: readonly (string | undefined)[] = [
  'ERR_STREAM_PREMATURE_CLOSE',
  'ECONNRESET',
  'EPIPE',
];

/** Disconnects are not logged here, because the access log says that the response is incomplete. */
function isClientGone(error: unknown): boolean {
  return DISCONNECT_CODES.includes((error as NodeJS.ErrnoException | null)?.code);
}
