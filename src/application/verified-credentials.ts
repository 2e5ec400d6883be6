import type { Clock } from './ports/clock.js';
import type { Bearer } from './ports/token-verifier.js';

const REMEMBERED_MS = 10 * 60_000;
/** So long a token that says when it ends is believed; a key that its issuer has withdrawn is believed no longer. */
const BELIEVED_MS = 5_000;
const MAX_KEPT = 10_000;
/** Whoever fetches token after token displaces tokens of his own. */
const MAX_OF_ONE = 100;

interface Verified {
  readonly bearer: Bearer;
  readonly verifiedAt: number;
}

/**
 * Credentials that were good lately, by their digests. Only what was verified gets in, each principal has its bound, and
 * what was not used for longest goes first: a flood of tokens costs nobody else his place.
 */
export class VerifiedCredentials {
  /** Used longest ago first, as are the digests of each principal. */
  private readonly byDigest = new Map<string, Verified>();
  private readonly digests = new Map<string, Set<string>>();

  constructor(private readonly clock: Clock) {}

  keep(digest: string, bearer: Bearer): void {
    this.forget(digest);
    const others = this.digests.get(bearer.id);
    if (others && others.size >= MAX_OF_ONE) this.forgetFirst(others);
    if (this.byDigest.size >= MAX_KEPT) this.forgetFirst(this.byDigest.keys());
    this.add(digest, { bearer, verifiedAt: this.clock.elapsed() });
  }

  forget(digest: string): void {
    const verified = this.byDigest.get(digest);
    if (!verified) return;
    const { id } = verified.bearer;
    this.byDigest.delete(digest);
    this.digests.get(id)?.delete(digest);
    if (this.digests.get(id)?.size === 0) this.digests.delete(id);
  }

  /** Whether it was good a short while ago; it may be good no more. */
  isRemembered(digest: string): boolean {
    const verified = this.byDigest.get(digest);
    return verified !== undefined && this.ageOf(verified) < REMEMBERED_MS;
  }

  /** Whose it is, where that need not be verified again. Goes by both clocks, so that one set back prolongs nothing. */
  believed(digest: string): Bearer | undefined {
    const verified = this.byDigest.get(digest);
    if (!verified || this.ageOf(verified) >= BELIEVED_MS) return undefined;
    const { bearer } = verified;
    if (bearer.expiresAt === undefined || bearer.expiresAt <= this.clock.now()) return undefined;
    this.forget(digest);
    this.add(digest, verified);
    return bearer;
  }

  private add(digest: string, verified: Verified): void {
    const { id } = verified.bearer;
    this.byDigest.set(digest, verified);
    const digests = this.digests.get(id);
    if (digests) digests.add(digest);
    else this.digests.set(id, new Set([digest]));
  }

  private forgetFirst(digests: Iterable<string>): void {
    const [first] = digests;
    if (first !== undefined) this.forget(first);
  }

  private ageOf({ verifiedAt }: Verified): number {
    return this.clock.elapsed() - verifiedAt;
  }
}
