import type { Store } from '../../../../application/ports/store.js';
import { unavailable } from '../../../../domain/errors.js';
import { JSON_TYPE } from '../core/media-types.js';
import type { Route } from '../core/route.js';

/**
 * The probes: whether the process is alive, and whether it can serve requests.
 * @param unreadiness why no request can be served whatever the store says; undefined if that is for the store to say
 */
export function healthRoutes(store: Store, unreadiness: () => string | undefined): Route[] {
  let running: Promise<void> | undefined;
  // Probes have no limit. Those that arrive together share one call, so they do not fill the pool of the store.
  const ping = () => {
    running ??= store.ping().finally(() => {
      running = undefined;
    });
    return running;
  };
  return [
    healthRoute('live', async () => {}),
    healthRoute('ready', async () => {
      const reason = unreadiness();
      if (reason !== undefined) throw unavailable(reason);
      await ping();
    }),
  ];
}

function healthRoute(name: 'live' | 'ready', check: () => Promise<void>): Route {
  return {
    template: `/health/${name}`,
    path: new RegExp(`^/health/${name}$`),
    access: 'probe',
    operations: {
      GET: {
        handle: async (ctx) => {
          await check();
          ctx.set('Content-Type', JSON_TYPE);
          ctx.body = JSON.stringify({ status: 'ok' });
        },
      },
    },
  };
}
