import { API_KEY_FRESH_MS, type ApiKey, keyPrincipalId, validKey } from '../../domain/api-key.js';
import type { Id, Instant, Versioned } from '../../domain/record.js';
import type { ApiKeyFormat } from '../ports/api-key-format.js';
import type { Clock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { Repository } from '../ports/repository.js';
import type { Credential, TokenVerifier, VerifiedCredential } from '../ports/tokens.js';

const MINUTE_MS = 60_000;

export interface ApiKeyVerifierDependencies {
  readonly keys: Repository<ApiKey>;
  readonly format: ApiKeyFormat;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Verifies API keys by looking up their digest. */
export class ApiKeyVerifier implements TokenVerifier {
  constructor(private readonly deps: ApiKeyVerifierDependencies) {}

  async verify({ token, digest }: Credential): Promise<VerifiedCredential> {
    const { keys, format, clock } = this.deps;
    const found = format.isWellFormed(token) ? await keys.findByUnique('digest', digest) : undefined;
    const now = clock.now();
    const key = validKey(found, now);
    const { scopes, expiresAt } = key.fields;
    const minute = now - (now % MINUTE_MS);
    this.recordUse(key, minute);
    return {
      id: keyPrincipalId(key.id),
      scopes,
      ...(expiresAt !== undefined && { expiresAt }),
      // The first use in the next minute is recorded too.
      freshMs: Math.min(API_KEY_FRESH_MS, minute + MINUTE_MS - now),
    };
  }

  /** Returns the key with this id. Throws as {@link validKey}; AppError `unavailable`. */
  async findValid(id: Id, reason?: string): Promise<Versioned<ApiKey>> {
    return validKey(await this.deps.keys.find(id), this.deps.clock.now(), reason);
  }

  /**
   * Writes the minute of the last use, at most once a minute. No request waits for the write or fails because of it.
   * The version stays as it is, so that a client can revoke a key that is in use by the version that it saw. If the
   * write loses a race, the key has been revoked.
   */
  private recordUse(key: Versioned<ApiKey>, minute: Instant): void {
    if ((key.fields.lastUsedAt ?? 0) >= minute) return;
    const next = { ...key, fields: { ...key.fields, lastUsedAt: minute } };
    this.deps.keys.replaceAll([{ record: next, expected: key.version }]).catch((error: unknown) => {
      this.deps.logger.warn('the last use of an API key could not be noted', { keyId: key.id, error });
    });
  }
}
