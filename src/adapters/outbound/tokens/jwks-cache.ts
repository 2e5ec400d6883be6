import { type CryptoKey, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import type { Clock } from '../../../application/ports/clock.js';
import type { Logger } from '../../../application/ports/logger.js';
import { unavailable } from '../../../domain/errors.js';

/** Older keys are fetched again. A key that the issuer has withdrawn is accepted for at most this time. */
const FRESH_MS = 5 * 60_000;
/**
 * How long the last known keys are used if the issuer is unavailable. One of them may have been withdrawn meanwhile.
 */
const USABLE_MS = 24 * 3_600_000;
/** The shortest time between two fetches because of an unknown `kid`, which anyone can send. */
const COOLDOWN_MS = 5_000;
/** The shortest time between a failed fetch and the next one. */
const RETRY_MS = 2_000;

export interface JwksCacheDependencies {
  readonly issuer: string;
  /** @throws Error if the keys cannot be fetched */
  readonly fetchKeySet: (issuer: string) => Promise<unknown>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The header fields by which a token names its key. */
export interface KeyName {
  readonly kid: string;
  readonly alg: string;
}

/**
 * The published keys of one issuer (RFC 7517), fetched when they are first needed. jose's `createRemoteJWKSet` is not
 * used: it has no pause after a failed fetch, makes each request wait for an issuer that hangs, needs the `jwks_uri` in
 * advance, and measures ages by the wall clock.
 */
export class JwksCache {
  private keys: ReturnType<typeof createLocalJWKSet> | undefined;
  private fetchedAt = Number.NEGATIVE_INFINITY;
  private attemptedAt = Number.NEGATIVE_INFINITY;
  private hasFailed = false;
  private pending: Promise<void> | undefined;

  constructor(private readonly deps: JwksCacheDependencies) {}

  /**
   * @returns undefined if the issuer has no such key
   * @throws AppError `unavailable` if the key is unknown and the issuer cannot be reached
   */
  async find(name: KeyName): Promise<CryptoKey | undefined> {
    await this.refreshIfStale();
    const known = await this.pick(name);
    if (known) return known;
    if (this.since(this.attemptedAt) >= (this.hasFailed ? RETRY_MS : COOLDOWN_MS)) await this.refresh();
    const key = await this.pick(name);
    if (!key && this.hasFailed) throw unavailable('The issuer of this access token cannot be reached now.');
    return key;
  }

  /**
   * Fetches stale keys again. If the last fetch failed and there are usable keys, the caller does not wait for the
   * fetch.
   */
  private async refreshIfStale(): Promise<void> {
    if (this.since(this.fetchedAt) < FRESH_MS) return;
    if (this.since(this.fetchedAt) >= USABLE_MS) this.keys = undefined;
    if (this.hasFailed && this.since(this.attemptedAt) < RETRY_MS) return;
    const refreshed = this.refresh();
    if (!this.hasFailed || !this.keys) await refreshed;
  }

  private async pick({ kid, alg }: KeyName): Promise<CryptoKey | undefined> {
    try {
      return await this.keys?.({ kid, alg });
    } catch {
      return undefined;
    }
  }

  /** Concurrent callers share one fetch. Never throws. */
  private refresh(): Promise<void> {
    this.pending ??= this.fetch().finally(() => {
      this.attemptedAt = this.deps.clock.elapsed();
      this.pending = undefined;
    });
    return this.pending;
  }

  private async fetch(): Promise<void> {
    const { issuer, fetchKeySet, logger, clock } = this.deps;
    try {
      // Throws if the document is not a JWK Set.
      this.keys = createLocalJWKSet((await fetchKeySet(issuer)) as JSONWebKeySet);
      this.fetchedAt = clock.elapsed();
      if (this.hasFailed)
        logger.info('the keys of the issuer of access tokens were fetched again', { issuer });
      this.hasFailed = false;
    } catch (error) {
      if (!this.hasFailed)
        logger.warn('the keys of the issuer of access tokens cannot be fetched', { issuer, error });
      this.hasFailed = true;
    }
  }

  private since(moment: number): number {
    return this.deps.clock.elapsed() - moment;
  }
}
