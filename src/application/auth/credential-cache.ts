import { hash } from 'node:crypto';
import type { Clock } from '../ports/clock.js';
import type { VerifiedCredential } from '../ports/tokens.js';

/** The SHA-256 of an API key or another token, in lower-case hexadecimal: the one form in which a key is stored. */
export function credentialDigest(token: string): string {
  return hash('sha256', token, 'hex');
}

/** How long a credential counts as recently valid. */
const REMEMBERED_MS = 10 * 60_000;
const MAX_ENTRIES = 10_000;
const MAX_ENTRIES_PER_PRINCIPAL = 100;

interface Entry {
  readonly credential: VerifiedCredential;
  readonly verifiedAt: number;
  isFresh: boolean;
}

/** The moment at which a verification began; see {@link CredentialCache.begin}. */
export interface VerificationStart {
  readonly at: number;
  readonly invalidations: number;
}

/**
 * The credentials that were verified lately, by digest. At most 10,000, and at most 100 per principal, so that one
 * client cannot evict the others. Only valid credentials are cached, so that a flood of bad tokens evicts nothing.
 * The credential that was verified least recently is evicted. A credential in use is verified again within seconds, so
 * a hit need not be recorded. By hand: the library lru-cache has no limit per principal.
 */
export class CredentialCache {
  /** Least recently verified first, as is each set of digests. */
  private readonly entries = new Map<string, Entry>();
  private readonly digestsByPrincipal = new Map<string, Set<string>>();
  private invalidations = 0;

  constructor(private readonly clock: Clock) {}

  /** Call before a verification, and pass the value to {@link set}. The age of the entry counts from here. */
  begin(): VerificationStart {
    return { at: this.clock.elapsed(), invalidations: this.invalidations };
  }

  /**
   * After a call of {@link invalidate} during the verification, the entry is not fresh: it may be older than the
   * revocation.
   */
  set(digest: string, credential: VerifiedCredential, start: VerificationStart): void {
    this.delete(digest);
    const others = this.digestsByPrincipal.get(credential.id);
    if (others && others.size >= MAX_ENTRIES_PER_PRINCIPAL) this.deleteFirst(others);
    if (this.entries.size >= MAX_ENTRIES) this.deleteFirst(this.entries.keys());
    const isFresh = start.invalidations === this.invalidations;
    this.entries.set(digest, { credential, verifiedAt: start.at, isFresh });
    const digests = this.digestsByPrincipal.get(credential.id);
    if (digests) digests.add(digest);
    else this.digestsByPrincipal.set(credential.id, new Set([digest]));
  }

  /**
   * @returns the credential if it need not be verified again. Checks both clocks, so that setting the time of day back
   * prolongs nothing.
   */
  getFresh(digest: string): VerifiedCredential | undefined {
    const entry = this.entries.get(digest);
    if (!entry?.isFresh || this.ageOf(entry) >= entry.credential.freshMs) return undefined;
    return this.hasExpired(entry.credential) ? undefined : entry.credential;
  }

  /** Whether it was valid in the last 10 minutes. It may be invalid by now. */
  wasValidRecently(digest: string): boolean {
    const entry = this.entries.get(digest);
    return entry !== undefined && this.ageOf(entry) < REMEMBERED_MS;
  }

  /** Makes each credential of the principal stale, so that its next use verifies it again. */
  invalidate(principalId: string): void {
    this.invalidations++;
    for (const digest of this.digestsByPrincipal.get(principalId) ?? []) {
      const entry = this.entries.get(digest);
      if (entry) entry.isFresh = false;
    }
  }

  /** Forgets a credential, so that it no longer passes the throttle. */
  delete(digest: string): void {
    const entry = this.entries.get(digest);
    if (!entry) return;
    const { id } = entry.credential;
    this.entries.delete(digest);
    const digests = this.digestsByPrincipal.get(id);
    digests?.delete(digest);
    if (digests?.size === 0) this.digestsByPrincipal.delete(id);
  }

  private deleteFirst(digests: Iterable<string>): void {
    const [first] = digests;
    if (first !== undefined) this.delete(first);
  }

  private ageOf({ verifiedAt }: Entry): number {
    return this.clock.elapsed() - verifiedAt;
  }

  private hasExpired({ expiresAt }: VerifiedCredential): boolean {
    return expiresAt !== undefined && expiresAt <= this.clock.now();
  }
}
