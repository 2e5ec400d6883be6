import type { Store } from '../../../application/ports/store.js';
import { unavailable } from '../../../domain/errors.js';
import type { Endpoint } from './endpoint.js';
import { noParameter } from './query.js';

/** For probes: is the process alive, and may traffic be sent to it? */
export function healthEndpoints(store: Store, isDraining: () => boolean): Endpoint[] {
  return [
    health('live', async () => {}),
    health('ready', async () => {
      if (isDraining()) throw unavailable('The service is stopping.');
      await store.ping();
    }),
  ];
}

function health(name: string, check: () => Promise<void>): Endpoint {
  return {
    route: `/health/${name}`,
    path: new RegExp(`^/health/${name}$`),
    operations: {
      GET: {
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
