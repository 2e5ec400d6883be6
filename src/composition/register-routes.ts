import { join } from 'node:path';
import { ResultBuffers } from '../adapters/inbound/http/import/result-buffer.js';
import { openApiRoute } from '../adapters/inbound/http/pages/openapi-route.js';
import { consoleRoutes, docsRoutes } from '../adapters/inbound/http/pages/pages.js';
import { rootRoute } from '../adapters/inbound/http/pages/root-route.js';
import type { Settings } from '../config/settings.js';
import * as t from './injection-tokens.js';
import { describedService } from './openapi.js';
import { type DependencyContainer, register } from './register.js';
import { COLLECTION_PATHS, composeResources } from './resources.js';

/** Longer than a pause within an upload, and still short for a client that waits for the result of its first line. */
const HOLD_MS = 500;

/** Registers the resources, all routes, and the OpenAPI document that describes them. */
export function registerRoutes(container: DependencyContainer, settings: Settings): void {
  register(container, t.RESOURCES, (c) => {
    return composeResources({
      settings,
      storage: c.resolve(t.STORAGE),
      clock: c.resolve(t.CLOCK),
      backoff: c.resolve(t.BACKOFF),
      format: c.resolve(t.KEY_FORMAT),
      credentials: c.resolve(t.CREDENTIAL_CACHE),
      logger: c.resolve(t.LOGGER),
      imports: {
        resultBuffers: new ResultBuffers({
          folder: join(settings.DATA_DIR, 'spool'),
          holdMs: settings.TLS === 'proxy' ? HOLD_MS : 0,
        }),
        logger: c.resolve(t.LOGGER),
      },
    });
  });
  register(container, t.ROUTES, (c) => [
    ...Object.values(c.resolve(t.RESOURCES)).flatMap(({ routes }) => routes),
    ...c.resolve(t.OAUTH_ROUTES),
    openApiRoute(() => c.resolve(t.OPENAPI_DOCUMENT)),
    ...docsRoutes(),
    ...consoleRoutes(),
    rootRoute(COLLECTION_PATHS, c.resolve(t.PUBLIC_URL)),
  ]);
  register(container, t.OPENAPI_DOCUMENT, (c) =>
    describedService({
      settings,
      routes: c.resolve(t.ROUTES),
      store: c.resolve(t.STORAGE).store,
      url: c.resolve(t.PUBLIC_URL).url,
    }),
  );
}
