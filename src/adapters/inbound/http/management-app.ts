import Router from '@koa/router';
import Koa from 'koa';
import type { Journal } from '../../../application/ports/journal.js';
import { notFound } from '../../../domain/errors.js';
import type { Middleware, RequestState } from './context.js';
import { answerErrors } from './middleware/answer-errors.js';
import { closeConnections } from './middleware/close-connections.js';
import { guardMessage } from './middleware/guard-message.js';
import { identifyRequest } from './middleware/identify-request.js';
import { markUncached } from './middleware/mark-uncached.js';
import { simplifyAccept } from './middleware/negotiate.js';
import { HttpError } from './response/http-error.js';
import { mount, type Route } from './route.js';
import { FIRST } from './versions/served-version.js';

/** What a Prometheus server collects. */
export interface MetricsReport {
  readonly contentType: string;
  text(): Promise<string>;
}

export interface ManagementDependencies {
  /** Probes. */
  readonly routes: readonly Route[];
  readonly metrics: MetricsReport;
  readonly journal: Journal;
  readonly isDraining: () => boolean;
}

/** For those who run the service: no token, no limit, and no line in the log for each probe. */
export function createManagementApp(deps: ManagementDependencies): Koa<RequestState> {
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  for (const route of deps.routes) mount(router, route, FIRST, async () => {});
  router.all(/^\/metrics$/, answerMetrics(deps.metrics));

  const app = new Koa<RequestState>();
  app.silent = true;
  app.on('error', (error: unknown) => deps.journal.warn('an answer broke off', { error }));
  app.use(identifyRequest);
  app.use(simplifyAccept);
  app.use(closeConnections(deps.isDraining));
  app.use(answerErrors(deps.journal));
  app.use(markUncached);
  app.use(guardMessage);
  app.use(router.routes());
  app.use(() => {
    throw notFound();
  });
  return app;
}

/** The one form that there is, whatever Accept says (RFC 9110 section 12.4.1): scrapers ask for many, some for none of JSON. */
function answerMetrics(metrics: MetricsReport): Middleware {
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
