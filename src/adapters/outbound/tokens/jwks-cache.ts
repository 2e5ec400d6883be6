import { type CryptoKey, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import type { Clock } from '../../../application/ports/clock.js';
import type { Journal } from '../../../application/ports/journal.js';
import { unavailable } from '../../../domain/errors.js';

/** Keys of this age are asked for anew: one that its issuer has withdrawn is good for no longer. */
const FRESH_MS = 5 * 60_000;
/** While the issuer cannot be reached its keys serve on, but not for ever: one of them may have been withdrawn. */
const USABLE_MS = 24 * 3_600_000;
/** Anyone can name a key that is not there. The issuer is asked no more often for that. */
const COOLDOWN_MS = 5_000;
/** An issuer that has just failed is left alone for so long. */
const RETRY_MS = 2_000;

export interface JwksCacheDependencies {
  readonly issuer: string;
  /** @throws Error where the issuer cannot be reached */
  readonly fetchKeySet: (issuer: string) => Promise<unknown>;
  readonly clock: Clock;
  readonly journal: Journal;
}

/** How a token names the key that it was signed with. */
export interface KeyName {
  readonly kid: string;
  readonly alg: string;
}

/** The public keys of one issuer, as it publishes them. Fetched when they are first needed. */
export class JwksCache {
  private keySet: ReturnType<typeof createLocalJWKSet> | undefined;
  private learnedAt = Number.NEGATIVE_INFINITY;
  private triedAt = Number.NEGATIVE_INFINITY;
  private hasFailed = false;
  private pending: Promise<void> | undefined;

  constructor(private readonly deps: JwksCacheDependencies) {}

  /**
   * @returns undefined where the issuer has no such key
   * @throws CatalogueError `unavailable` where it cannot be asked
   */
  async find(name: KeyName): Promise<CryptoKey | undefined> {
    await this.keepFresh();
    const known = await this.pick(name);
    if (known) return known;
    if (this.since(this.triedAt) >= (this.hasFailed ? RETRY_MS : COOLDOWN_MS)) await this.refresh();
    const key = await this.pick(name);
    if (!key && this.hasFailed) throw unavailable('The issuer of this access token cannot be reached now.');
    return key;
  }

  /** Nobody waits for an issuer that has failed already while there are keys that serve. */
  private async keepFresh(): Promise<void> {
    if (this.since(this.learnedAt) < FRESH_MS) return;
    if (this.since(this.learnedAt) >= USABLE_MS) this.keySet = undefined;
    if (this.hasFailed && this.since(this.triedAt) < RETRY_MS) return;
    const refreshed = this.refresh();
    if (!this.hasFailed || !this.keySet) await refreshed;
  }

  private async pick({ kid, alg }: KeyName): Promise<CryptoKey | undefined> {
    try {
      return await this.keySet?.({ kid, alg });
    } catch {
      return undefined;
    }
  }

  /** One at a time, which all share. Never throws. */
  private refresh(): Promise<void> {
    this.pending ??= this.learn().finally(() => {
      this.triedAt = this.deps.clock.elapsed();
      this.pending = undefined;
    });
    return this.pending;
  }

  private async learn(): Promise<void> {
    const { issuer, fetchKeySet, journal, clock } = this.deps;
    try {
      // It looks itself whether it is one.
      this.keySet = createLocalJWKSet((await fetchKeySet(issuer)) as JSONWebKeySet);
      this.learnedAt = clock.elapsed();
      if (this.hasFailed) journal.info('the keys of the issuer of access tokens are there again', { issuer });
      this.hasFailed = false;
    } catch (error) {
      if (!this.hasFailed)
        journal.warn('the keys of the issuer of access tokens cannot be fetched', { issuer, error });
      this.hasFailed = true;
    }
  }

  private since(moment: number): number {
    return this.deps.clock.elapsed() - moment;
  }
}
