import type { ApiKey, Principal } from '../domain/access.js';
import { CatalogueError } from '../domain/errors.js';
import type { Versioned } from '../domain/record.js';
import type { ApiKeyFormat } from './ports/api-key-format.js';
import type { Clock } from './ports/clock.js';
import type { Journal } from './ports/journal.js';
import type { Repository } from './ports/repository.js';
import type { TokenVerifier } from './ports/token-verifier.js';

const MINUTE_MS = 60_000;

export interface ApiKeyVerifierDependencies {
  readonly keys: Repository<ApiKey>;
  readonly format: ApiKeyFormat;
  readonly clock: Clock;
  readonly journal: Journal;
}

/** Knows the bearer of an API key. Every check asks the store, so that a revoked key is refused at once. */
export class ApiKeyVerifier implements TokenVerifier {
  constructor(private readonly deps: ApiKeyVerifierDependencies) {}

  async verify(token: string): Promise<Principal> {
    const { keys, format, clock } = this.deps;
    const key = format.isWellFormed(token)
      ? await keys.findByUnique('digest', format.digest(token))
      : undefined;
    if (!key) throw new CatalogueError('invalid_token', 'The token is not one that this service knows.');
    const now = clock.now();
    if (key.fields.expiresAt !== undefined && key.fields.expiresAt <= now) {
      throw new CatalogueError('token_expired', 'The API key has expired.');
    }
    this.noteUse(key, now - (now % MINUTE_MS));
    return { id: `key:${key.id}`, scopes: key.fields.scopes };
  }

  /** At most one write a minute and key. No request waits for it or fails by it: a lost race was another's note. */
  private noteUse(key: Versioned<ApiKey>, minute: number): void {
    if ((key.fields.lastUsedAt ?? 0) >= minute) return;
    const fields = { ...key.fields, lastUsedAt: minute };
    const next = { ...key, version: key.version + 1, updatedAt: this.deps.clock.now(), fields };
    this.deps.keys.replace(next, key.version).catch((error: unknown) => {
      this.deps.journal.warn('the last use of an API key could not be noted', { keyId: key.id, error });
    });
  }
}
