import type { KeyAdministration } from '../application/key-administration.js';
import type { Settings } from '../config/settings.js';
import { CatalogueError } from '../domain/errors.js';
import { compose } from './container.js';
import * as t from './tokens.js';

/**
 * Lends the key administration of the store that the settings name; a service may run on it meanwhile.
 * @throws CatalogueError `unavailable`; `validation_failed` where the store dies with this process
 */
export async function administerKeys<Result>(
  settings: Settings,
  use: (keys: KeyAdministration) => Promise<Result>,
): Promise<Result> {
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
    return await use(get(t.KEY_ADMINISTRATION));
  } finally {
    await store.close();
  }
}
