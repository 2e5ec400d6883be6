import type { RequestListener } from 'node:http';
import type { Logger } from '../../../../application/ports/logger.js';
import { notFound } from '../../../../domain/errors.js';
import { FIRST_VERSION } from '../core/api-version.js';
import type { Middleware } from '../core/context.js';
import { HttpError } from '../core/http-error.js';
import type { Route } from '../core/route.js';
import { connectionClose } from '../middleware/connection-close.js';
import { normalizeAccept } from '../middleware/content-negotiation.js';
import { errorHandler } from '../middleware/error-handler.js';
import { noStore } from '../middleware/no-store.js';
import { requestId } from '../middleware/request-id.js';
import { requestLimits } from '../middleware/request-limits.js';
import { koaListener } from './koa-listener.js';
import { routeHandler } from './route-handler.js';
import { routeIndex } from './route-index.js';

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
export function createManagementApp(deps: ManagementDependencies): RequestListener {
  const probes = deps.routes.map((route) => {
    return { ...route, handle: routeHandler(route, FIRST_VERSION) };
  });
  const metrics = { template: '/metrics', path: /^\/metrics$/, handle: respondMetrics(deps.metrics) };
  const middleware: Middleware[] = [
    requestId,
    normalizeAccept,
    connectionClose(deps.isDraining),
    errorHandler(deps.logger),
    noStore,
    requestLimits,
    routeIndex([...probes, metrics]),
    () => {
      throw notFound();
    },
  ];
  return koaListener(middleware, (error) => deps.logger.warn('response aborted', { error }));
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
