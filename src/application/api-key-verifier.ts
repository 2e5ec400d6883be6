import { type ApiKey, invalidToken, keyPrincipalId, type Principal } from '../domain/access.js';
import { CatalogueError } from '../domain/errors.js';
import type { Id, Versioned } from '../domain/record.js';
import type { ApiKeyFormat } from './ports/api-key-format.js';
import type { Clock } from './ports/clock.js';
import type { Journal } from './ports/journal.js';
import type { Repository } from './ports/repository.js';
import type { TokenVerifier } from './ports/token-verifier.js';

const MINUTE_MS = 60_000;
/** So long a key that was read is believed to be there still; revocation is promised within 5 seconds. */
const FRESH_MS = 2_000;
const MAX_KNOWN = 10_000;

export interface ApiKeyVerifierDependencies {
  readonly keys: Repository<ApiKey>;
  readonly format: ApiKeyFormat;
  readonly clock: Clock;
  readonly journal: Journal;
}

interface Known {
  readonly key: Versioned<ApiKey>;
  readonly readAt: number;
  isNoted: boolean;
}

/** Knows the bearer of an API key. A key that it does not know is always looked up: a new one is good at once. */
export class ApiKeyVerifier implements TokenVerifier {
  /** By digest; oldest first. */
  private readonly known = new Map<string, Known>();
  /** How often a key was forgotten: a look-up that was under way then may have found it still. */
  private forgotten = 0;

  constructor(private readonly deps: ApiKeyVerifierDependencies) {}

  async verify(token: string): Promise<Principal> {
    const { format, clock } = this.deps;
    const known = format.isWellFormed(token) ? await this.lookUp(format.digest(token)) : undefined;
    if (!known) throw invalidToken();
    const { id, fields } = known.key;
    const now = clock.now();
    if (fields.expiresAt !== undefined && fields.expiresAt <= now) {
      throw new CatalogueError('token_expired', 'The API key has expired.');
    }
    this.noteUse(known, now - (now % MINUTE_MS));
    return { id: keyPrincipalId(id), scopes: fields.scopes };
  }

  /** From now on the key is looked up: it is no more what it was. */
  forget(id: Id): void {
    this.forgotten++;
    for (const [digest, { key }] of this.known) if (key.id === id) this.known.delete(digest);
  }

  private async lookUp(digest: string): Promise<Known | undefined> {
    const { keys, clock } = this.deps;
    const known = this.known.get(digest);
    if (known && clock.elapsed() - known.readAt < FRESH_MS) return known;
    const [readAt, forgotten] = [clock.elapsed(), this.forgotten];
    const key = await keys.findByUnique('digest', digest);
    this.known.delete(digest);
    if (!key) return undefined;
    const read = { key, readAt, isNoted: false };
    if (forgotten !== this.forgotten) return read;
    this.known.set(digest, read);
    const [oldest] = this.known.keys();
    if (this.known.size > MAX_KNOWN && oldest !== undefined) this.known.delete(oldest);
    return read;
  }

  /**
   * At most one write a minute and key. No request waits for it or fails by it: a lost race was a revocation. The version stays:
   * whoever is about to revoke the key by the version that they saw shall not come too late because it is in use.
   */
  private noteUse(known: Known, minute: number): void {
    const { key } = known;
    if (known.isNoted || (key.fields.lastUsedAt ?? 0) >= minute) return;
    known.isNoted = true;
    const next = { ...key, fields: { ...key.fields, lastUsedAt: minute } };
    this.deps.keys.replace(next, key.version).catch((error: unknown) => {
      this.deps.journal.warn('the last use of an API key could not be noted', { keyId: key.id, error });
    });
  }
}
