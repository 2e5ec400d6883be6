import { SCOPES } from '../../domain/access.js';
import type { ApiKey } from '../../domain/api-key.js';
import { AppError } from '../../domain/errors.js';
import { instantText } from '../../domain/instant.js';
import type { Id, Versioned } from '../../domain/record.js';
import type { ApiKeyFormat } from '../ports/api-key-format.js';
import type { Clock } from '../ports/clock.js';
import type { Repository } from '../ports/repository.js';
import { ANY_VERSION } from '../records/write-conditions.js';
import type { ApiKeyService } from './api-key-service.js';
import type { KeyUsage, UsedApiKey } from './key-usage.js';

/**
 * The id of the key that a store's first start creates. It is never reserved, so its uniqueness decides which start
 * wins.
 */
export const FIRST_KEY_ID: Id = 1;

export type NewApiKey = Pick<ApiKey, 'name' | 'scopes' | 'expiresAt'>;

export interface KeyAdministrationDependencies {
  readonly service: ApiKeyService;
  readonly keys: Pick<Repository<ApiKey>, 'insertAll' | 'find'>;
  readonly format: ApiKeyFormat;
  readonly clock: Clock;
}

/** Administers API keys for the owner of the machine, who has no scopes of their own and may give a key any scope. */
export class KeyAdministration {
  constructor(private readonly deps: KeyAdministrationDependencies) {}

  /**
   * @returns the key in plain text, which cannot be shown again
   * @throws AppError `validation_failed`
   */
  async create(fields: NewApiKey): Promise<{ readonly record: Versioned<ApiKey>; readonly key: string }> {
    const { service } = this.deps;
    const draft = service.keys.draft({ ...fields, expiresAt: instantText(fields.expiresAt) });
    const { record, key } = await service.issue({ draft });
    if (key === undefined) throw new Error('A new API key was mistaken for a replayed one.');
    return { record, key };
  }

  /**
   * Inserts `key` as the store's first key, with every scope, unless the store has ever had one.
   * @returns whether `key` is the first key, inserted by this call or by an earlier one whose outcome was unknown
   * @throws AppError `validation_failed` if the key is not well-formed
   */
  async createFirst(key: string): Promise<boolean> {
    const { keys, format, clock } = this.deps;
    if (!format.isWellFormed(key)) throw new AppError('validation_failed', 'The key is not well-formed.');
    const now = clock.now();
    const fields = { name: 'first key', scopes: SCOPES, digest: format.digest(key) };
    const record = { id: FIRST_KEY_ID, version: 1, createdAt: now, updatedAt: now, fields };
    const [outcome] = await keys.insertAll([record]);
    if (outcome instanceof AppError) throw outcome;
    if (outcome === 'inserted') return true;
    const first = await keys.find(FIRST_KEY_ID);
    return first?.fields.digest === fields.digest;
  }

  /** Yields every key with its usage, in order of id. */
  all(): AsyncGenerator<Versioned<UsedApiKey>> {
    return this.deps.service.all();
  }

  /**
   * @returns the name of the key
   * @throws AppError `not_found`, `unavailable`
   */
  async revoke(id: Id): Promise<string> {
    const key = await this.deps.keys.find(id);
    await this.deps.service.revoke(id, ANY_VERSION);
    return key?.fields.name ?? '';
  }
}

/** A key as HTTP and the command line show it: without its secret and its digest. */
export function presentApiKey({ id, createdAt, fields }: Versioned<UsedApiKey>) {
  const { name, scopes, expiresAt, lastUsedAt, createdBy, createdBySubject, usage } = fields;
  return {
    id,
    name,
    scopes,
    expiresAt: instantText(expiresAt),
    createdAt: instantText(createdAt),
    lastUsedAt: instantText(lastUsedAt),
    createdBy,
    createdBySubject,
    usage: usage && presentUsage(usage),
  };
}

function presentUsage({ since, requests, byRoute }: KeyUsage) {
  return { since: instantText(since), requests, byRoute };
}
