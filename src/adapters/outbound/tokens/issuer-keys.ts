import { type CryptoKey, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import type { Clock } from '../../../application/ports/clock.js';
import type { Logger } from '../../../application/ports/logger.js';
import { unavailable } from '../../../domain/errors.js';

/** Older keys are fetched again. A key that the issuer has withdrawn is accepted for at most this time. */
const FRESH_MS = 5 * 60_000;
/** How long the last known keys are used if the issuer is unavailable. One of them may have been withdrawn by then. */
const USABLE_MS = 24 * 3_600_000;
/** The shortest time between two fetches because of an unknown `kid`, which anyone can send. */
const COOLDOWN_MS = 5_000;
/** The shortest time between a failed fetch and the next one. */
const RETRY_MS = 2_000;
/** The time-out for each document, including its body. */
const TIMEOUT_MS = 2_000;
const MAX_BYTES = 256 * 1024;

export interface IssuerKeysDependencies {
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
export class IssuerKeys {
  private keys: ReturnType<typeof createLocalJWKSet> | undefined;
  private fetchedAt = Number.NEGATIVE_INFINITY;
  private attemptedAt = Number.NEGATIVE_INFINITY;
  private hasFailed = false;
  private pending: Promise<void> | undefined;

  constructor(private readonly deps: IssuerKeysDependencies) {}

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

  /** If the last fetch failed and there are usable keys, the caller does not wait for the next one. */
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
    const what = 'the keys of the issuer of access tokens';
    try {
      // Throws if the document is not a JWK Set.
      this.keys = createLocalJWKSet((await fetchKeySet(issuer)) as JSONWebKeySet);
      this.fetchedAt = clock.elapsed();
      if (this.hasFailed) logger.info(`${what} were fetched again`, { issuer });
      this.hasFailed = false;
    } catch (error) {
      if (!this.hasFailed) logger.warn(`${what} cannot be fetched`, { issuer, error });
      this.hasFailed = true;
    }
  }

  private since(moment: number): number {
    return this.deps.clock.elapsed() - moment;
  }
}

/**
 * Fetches the keys of an issuer by way of its metadata (RFC 8414).
 * @returns a JSON object that should be a JWK Set (RFC 7517 section 5)
 * @throws Error if there is none
 */
export async function fetchKeySet(issuer: string): Promise<unknown> {
  let failure: unknown;
  for (const url of metadataUrls(issuer)) {
    const metadata = await fetchJson(url).catch((error: Error) => {
      // Then the other URL is not tried: it is on the same host.
      if (error.name === 'TimeoutError') throw error;
      failure = error;
    });
    if (metadata?.['issuer'] !== issuer) continue;
    const keySet = await fetchJson(jwksUri(metadata['jwks_uri'], issuer));
    if (keySet) return keySet;
    throw new Error('no JWK Set is at the jwks_uri of the issuer');
  }
  throw failure ?? new Error('the issuer publishes no metadata that name it');
}

/**
 * The URLs at which an issuer may publish its metadata. RFC 8414 section 3.1 puts the well-known name before the
 * issuer's path, OpenID Connect Discovery (section 4) after it.
 */
export function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
}

/** Returns a safe `jwks_uri`. Plain HTTP is safe only to this machine, and only if the issuer itself uses plain HTTP. */
export function jwksUri(value: unknown, issuer: string): string {
  const { protocol, hostname } = new URL(String(value));
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback && issuer.startsWith('http:'));
  if (isSafe) return String(value);
  throw new Error('the jwks_uri of the issuer is not safe');
}

/**
 * Fetches a JSON object. Follows no redirect.
 * @returns undefined if the response is not a JSON object with status 200
 * @throws Error if there is no response in time
 */
async function fetchJson(url: string): Promise<Record<string, unknown> | undefined> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const headers = { Accept: 'application/json, application/jwk-set+json' };
  const response = await fetch(url, { redirect: 'manual', headers, signal });
  const text = response.status === 200 ? await textOf(response) : undefined;
  // An unread body would hold the connection.
  if (text === undefined) await response.body?.cancel();
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** @returns undefined if the body is larger than MAX_BYTES */
async function textOf({ body }: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body?.values({ preventCancel: true }) ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
