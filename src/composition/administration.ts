import type { KeyAdministration } from '../application/auth/key-administration.js';
import type { SigningKeyAdministration } from '../application/auth/signing-key-administration.js';
import { Seeding } from '../application/seeding.js';
import type { Settings } from '../config/settings.js';
import { CatalogueError } from '../domain/errors.js';
import { compose } from './container.js';
import { describedService } from './openapi.js';
import * as t from './tokens.js';
import type { Get } from './typed-token.js';

/**
 * Lends the key administration of the store that the settings name; a service may run on it meanwhile.
 * @throws CatalogueError `unavailable`; `validation_failed` where the store dies with this process
 */
export function administerKeys<Result>(
  settings: Settings,
  use: (keys: KeyAdministration) => Promise<Result>,
): Promise<Result> {
  return inStore(settings, async (get) => {
    try {
      return await use(get(t.KEY_ADMINISTRATION));
    } finally {
      await get(t.RESOURCES).apiKeys.ids.release();
    }
  });
}

/** Lends the signing keys of that store, as {@link administerKeys} its keys. */
export function administerSigningKeys<Result>(
  settings: Settings,
  use: (keys: SigningKeyAdministration) => Promise<Result>,
): Promise<Result> {
  return inStore(settings, (get) => use(get(t.SIGNING_KEY_ADMINISTRATION)));
}

/** The OpenAPI document of a service with these settings. Of its store and limiter nothing is told, and none is connected to. */
export function describeService(settings: Settings): object {
  return describedService(compose({ ...settings, STORE: 'memory', RATE_LIMITER: 'memory' }));
}

/** Lends what fills the store that the settings name with samples, as {@link administerKeys} its keys. */
export function seedStore<Result>(
  settings: Settings,
  use: (seeding: Seeding) => Promise<Result>,
): Promise<Result> {
  return inStore(settings, (get) => {
    const { products, reservations } = get(t.STORED);
    return use(new Seeding({ products, reservations: reservations.products, clock: get(t.CLOCK) }));
  });
}

async function inStore<Result>(settings: Settings, use: (get: Get) => Promise<Result>): Promise<Result> {
  if (settings.STORE === 'memory') {
    throw new CatalogueError(
      'validation_failed',
      'STORE=memory lives in the service alone; no other process sees it.',
    );
  }
  const get = compose(settings);
  const store = get(t.STORE);
  try {
    await store.open();
    return await use(get);
  } finally {
    await store.close();
  }
}
