import type { IncomingMessage } from 'node:http';
import type { Store } from '../../../application/ports/store.js';
import { unavailable } from '../../../domain/errors.js';
import type { OperationDescription } from './openapi/description.js';
import { open, schemaRef, TEXT } from './openapi/json-schema.js';
import { noParameter } from './query/query.js';
import type { Route } from './route.js';

/** Whether the path of a request begins with `/health/`. */
export function isProbe({ url = '' }: IncomingMessage): boolean {
  return PROBE.test(url);
}

/** The target of a request may be in absolute form (RFC 9112 section 3.2.2). */
const PROBE = /^(?:[Hh][Tt][Tt][Pp][Ss]?:\/\/[^/?#]*)?\/health\//;

/** The probes: whether the process is alive, and whether it can serve requests. */
export function healthRoutes(store: Store, isDraining: () => boolean): Route[] {
  let running: Promise<void> | undefined;
  // Probes have no limit. Those that arrive together share one call, so they do not fill the pool of the store.
  const ping = () => {
    running ??= store.ping().finally(() => {
      running = undefined;
    });
    return running;
  };
  return [
    healthRoute('live', 'Check that the process is alive', async () => {}),
    healthRoute('ready', 'Check that the service is ready for requests', async () => {
      if (isDraining()) throw unavailable('The service is stopping.');
      await ping();
    }),
  ];
}

function healthRoute(name: 'live' | 'ready', summary: string, check: () => Promise<void>): Route {
  return {
    template: `/health/${name}`,
    path: new RegExp(`^/health/${name}$`),
    access: 'probe',
    operations: {
      GET: {
        describe: () => descriptionOf(name, summary),
        parameter: noParameter,
        handle: async (ctx) => {
          await check();
          ctx.set('Content-Type', 'application/json');
          ctx.body = JSON.stringify({ status: 'ok' });
        },
      },
    },
  };
}

function descriptionOf(name: 'live' | 'ready', summary: string): OperationDescription {
  return {
    id: name === 'live' ? 'getLiveness' : 'getReadiness',
    tag: 'Health',
    summary,
    text: 'For load balancers and orchestrators. Needs no credential and is not counted by the rate limit.',
    schemas: { Health: HEALTH },
    responses: [
      {
        status: 200,
        description: 'It is. Otherwise the response is 503, or there is none.',
        content: { 'application/json': { schema: schemaRef('Health') } },
      },
    ],
  };
}

const HEALTH = open({ status: { ...TEXT, description: 'Always `ok`.' } });
