import { type ApiKey, checkApiKey, SCOPES, type Scope } from '../domain/access.js';
import { CatalogueError, notFound } from '../domain/errors.js';
import type { Id, Instant, Versioned } from '../domain/record.js';
import { everyPage } from './every-page.js';
import { BY_ID } from './list-query.js';
import type { ApiKeyFormat } from './ports/api-key-format.js';
import type { Clock } from './ports/clock.js';
import type { Repository } from './ports/repository.js';

/** The key that a store's first start makes. Its id is never leased, so that the id's uniqueness decides who makes it. */
export const FIRST_KEY_ID: Id = 1;

const PAGE = 1_000;

export interface NewApiKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: Instant;
}

export interface IssuedApiKey {
  readonly record: Versioned<ApiKey>;
  /** Known here and now only. */
  readonly key: string;
}

export interface KeyAdministrationDependencies {
  readonly keys: Repository<ApiKey>;
  readonly format: ApiKeyFormat;
  readonly clock: Clock;
}

export class KeyAdministration {
  constructor(private readonly deps: KeyAdministrationDependencies) {}

  /** @throws CatalogueError `validation_failed` */
  async create(input: NewApiKey): Promise<IssuedApiKey> {
    checkApiKey(input);
    const key = this.deps.format.generate();
    const record = this.record(await this.deps.keys.reserveIds(1), input, key);
    if (!(await this.deps.keys.insert(record)))
      throw new Error(`The store gave out the key id ${record.id} twice.`);
    return { record, key };
  }

  /**
   * Makes `key` the store's first, with every scope, unless there ever was one.
   * @returns whether it is: by this call, or by an earlier one for the same key whose outcome was unknown
   * @throws CatalogueError `validation_failed` where the key is not well-formed
   */
  async createFirst(key: string): Promise<boolean> {
    const record = this.record(FIRST_KEY_ID, { name: 'first key', scopes: SCOPES }, key);
    if (await this.deps.keys.insert(record)) return true;
    const first = await this.deps.keys.find(FIRST_KEY_ID);
    return first?.fields.digest === record.fields.digest;
  }

  /** Every key, in order of id. */
  async *all(): AsyncGenerator<Versioned<ApiKey>> {
    const query = { limit: PAGE, filters: [], order: BY_ID };
    for await (const page of everyPage(this.deps.keys, query)) yield* page;
  }

  /** @throws CatalogueError `not_found` */
  async revoke(id: Id): Promise<void> {
    for (;;) {
      const current = await this.deps.keys.find(id);
      if (!current) throw notFound();
      if (await this.deps.keys.remove(id, current.version, this.deps.clock.now())) return;
    }
  }

  private record(id: Id, input: NewApiKey, key: string): Versioned<ApiKey> {
    if (!this.deps.format.isWellFormed(key))
      throw new CatalogueError('validation_failed', 'The key is not well-formed.');
    const now = this.deps.clock.now();
    const fields = { ...input, digest: this.deps.format.digest(key) };
    return { id, version: 1, createdAt: now, updatedAt: now, fields };
  }
}
