import { type ApiKey, SCOPES } from '../domain/access.js';
import { CatalogueError } from '../domain/errors.js';
import type { Id, Versioned } from '../domain/record.js';
import type { ApiKeyService } from './auth/api-key-service.js';
import { BY_ID } from './list-query.js';
import type { ApiKeyFormat } from './ports/api-key-format.js';
import type { Clock } from './ports/clock.js';
import type { Repository } from './ports/repository.js';
import { ANY_VERSION } from './records/record-service.js';

/** The key that a store's first start makes. Its id is never leased, so that the id's uniqueness decides who makes it. */
export const FIRST_KEY_ID: Id = 1;

const PAGE = 1_000;

export type NewApiKey = Omit<ApiKey, 'digest' | 'lastUsedAt'>;

export interface KeyAdministrationDependencies {
  readonly useCases: ApiKeyService;
  readonly keys: Pick<Repository<ApiKey>, 'insert' | 'find'>;
  readonly format: ApiKeyFormat;
  readonly clock: Clock;
}

/** What the owner of the machine does with keys. Nobody gave the owner scopes, so none limit what a key is given. */
export class KeyAdministration {
  constructor(private readonly deps: KeyAdministrationDependencies) {}

  /**
   * @returns the key, known here and now only
   * @throws CatalogueError `validation_failed`
   */
  async create(fields: NewApiKey): Promise<{ readonly record: Versioned<ApiKey>; readonly key: string }> {
    const { record, key } = await this.deps.useCases.issue({ draft: { fields, issues: [] } });
    if (key === undefined)
      throw new Error('A key that nobody made before was taken for one that somebody did.');
    return { record, key };
  }

  /**
   * Makes `key` the store's first, with every scope, unless there ever was one.
   * @returns whether it is: by this call, or by an earlier one for the same key whose outcome was unknown
   * @throws CatalogueError `validation_failed` where the key is not well-formed
   */
  async createFirst(key: string): Promise<boolean> {
    const { keys, format, clock } = this.deps;
    if (!format.isWellFormed(key))
      throw new CatalogueError('validation_failed', 'The key is not well-formed.');
    const now = clock.now();
    const fields = { name: 'first key', scopes: SCOPES, digest: format.digest(key) };
    if (await keys.insert({ id: FIRST_KEY_ID, version: 1, createdAt: now, updatedAt: now, fields }))
      return true;
    const first = await keys.find(FIRST_KEY_ID);
    return first?.fields.digest === fields.digest;
  }

  /** Every key, in order of id. */
  async *all(): AsyncGenerator<Versioned<ApiKey>> {
    const query = { limit: PAGE, filters: [], order: BY_ID };
    for await (const page of this.deps.useCases.keys.pages(query)) yield* page;
  }

  /** @throws CatalogueError `not_found`, `unavailable` */
  revoke(id: Id): Promise<void> {
    return this.deps.useCases.revoke(id, ANY_VERSION);
  }
}
