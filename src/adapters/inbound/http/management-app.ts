import Router from '@koa/router';
import Koa from 'koa';
import type { Logger } from '../../../application/ports/logger.js';
import { notFound } from '../../../domain/errors.js';
import type { Middleware, RequestState } from './context.js';
import { connectionClose } from './middleware/connection-close.js';
import { normalizeAccept } from './middleware/content-negotiation.js';
import { errorHandler } from './middleware/error-handler.js';
import { noStore } from './middleware/no-store.js';
import { requestId } from './middleware/request-id.js';
import { requestLimits } from './middleware/request-limits.js';
import { HttpError } from './response/http-error.js';
import { mount, type Route } from './route.js';
import { FIRST_VERSION } from './versioning/api-version.js';

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

/** Returns the app for operators: no token, no rate limit, and no access log. */
export function createManagementApp(deps: ManagementDependencies): Koa<RequestState> {
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  for (const route of deps.routes) mount(router, route, FIRST_VERSION, async () => {});
  router.all(/^\/metrics$/, respondMetrics(deps.metrics));

  const app = new Koa<RequestState>();
  app.silent = true;
  app.on('error', (error: unknown) => deps.logger.warn('response aborted', { error }));
  app.use(requestId);
  app.use(normalizeAccept);
  app.use(connectionClose(deps.isDraining));
  app.use(errorHandler(deps.logger));
  app.use(noStore);
  app.use(requestLimits);
  app.use(router.routes());
  app.use(() => {
    throw notFound();
  });
  return app;
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
