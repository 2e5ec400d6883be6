import Router from '@koa/router';
import Koa from 'koa';
import type { Clock } from '../../../application/ports/clock.js';
import type { Logger } from '../../../application/ports/logger.js';
import { notFound } from '../../../domain/errors.js';
import type { Context, Middleware, RequestState } from './context.js';
import { accessLog } from './middleware/access-log.js';
import type { AccessControl } from './middleware/authentication.js';
import { compression } from './middleware/compression.js';
import { connectionClose } from './middleware/connection-close.js';
import { normalizeAccept } from './middleware/content-negotiation.js';
import { errorHandler } from './middleware/error-handler.js';
import { noStore } from './middleware/no-store.js';
import { countRequest } from './middleware/rate-limit.js';
import { requestId } from './middleware/request-id.js';
import { requestLimits } from './middleware/request-limits.js';
import { limitSendingTime, responseLimits } from './middleware/response-limits.js';
import { wwwAuthenticate } from './middleware/www-authenticate.js';
import { accessGuard, mount, type Route } from './route.js';
import { versionOf } from './versioning/api-version.js';
import { deprecationHeaders } from './versioning/deprecation.js';
import type { WorkLimits } from './work-limits.js';

export interface AppDependencies {
  /** Finds the IP address of the client, or rejects the request: `directClientIp` or `proxiedClientIp`. */
  readonly clientIp: Middleware;
  /** Lets scripts of other origins read the responses. */
  readonly cors: Middleware;
  readonly accessControl: AccessControl;
  readonly routes: readonly Route[];
  /** The URL of the protected resource metadata (RFC 9728). */
  readonly metadataUrl: () => string;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly isDraining: () => boolean;
  /** The limits of concurrent work per client. */
  readonly limits: WorkLimits;
}

/** Returns the app. A request passes the middleware from top to bottom, then its route ({@link mount}). */
export function createApp(deps: AppDependencies): Koa<RequestState> {
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  const guard = accessGuard(deps.accessControl);
  for (const route of deps.routes) mount(router, route, versionOf(route, deps.routes), guard);

  const app = new Koa<RequestState>();
  app.silent = true;
  app.on('error', warnOnce(deps.logger));
  app.use(requestId);
  app.use(normalizeAccept);
  app.use(deps.cors);
  app.use(accessLog(deps.logger, deps.clock));
  app.use(connectionClose(deps.isDraining));
  app.use(deprecationHeaders);
  app.use(limitSendingTime());
  app.use(errorHandler(deps.logger));
  app.use(wwwAuthenticate(deps.metadataUrl));
  app.use(noStore);
  app.use(deps.clientIp);
  app.use(requestLimits);
  app.use(responseLimits(deps.limits));
  app.use(compression);
  app.use(router.routes());
  app.use(async (ctx) => {
    await countRequest(ctx, deps.accessControl.limiter);
    throw notFound();
  });
  return app;
}

/** Koa reports an aborted response twice: for the body and for the connection. This logs it once. */
function warnOnce(logger: Logger): (error: unknown, ctx: Context) => void {
  const reported = new WeakSet<Context>();
  return (error, ctx) => {
    if (isClientGone(error) || reported.has(ctx)) return;
    reported.add(ctx);
    logger.warn('response aborted', { requestId: ctx.state.requestId, error });
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
