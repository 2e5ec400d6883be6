export interface QuotaLimits {
  /** The limit of all shares of one client together. */
  readonly perClient: number;
  /** The limit of all shares. */
  readonly total: number;
}

/** Whose limit is reached. */
export type Exhausted = 'client' | 'all';

/** Bytes of memory or of a disk that clients hold for long: nobody waits for them, as for those of a semaphore. */
export class ByteQuota {
  private readonly held = new Map<string, number>();
  private heldByAll = 0;

  constructor(private readonly limits: QuotaLimits) {}

  /** @param client whose limit counts: a principal, else an IP address */
  open(client: string): QuotaShare {
    return new QuotaShare((bytes) => this.take(client, bytes));
  }

  private take(client: string, bytes: number): Exhausted | undefined {
    const ofClient = (this.held.get(client) ?? 0) + bytes;
    const { perClient, total } = this.limits;
    if (bytes > 0 && ofClient > perClient) return 'client';
    if (bytes > 0 && this.heldByAll + bytes > total) return 'all';
    this.heldByAll += bytes;
    if (ofClient > 0) this.held.set(client, ofClient);
    else this.held.delete(client);
    return undefined;
  }
}

/** What one task holds of a quota. */
export class QuotaShare {
  private held = 0;
  private isReleased = false;

  constructor(private readonly takeFor: (bytes: number) => Exhausted | undefined) {}

  /** How many bytes it holds. */
  get bytes(): number {
    return this.held;
  }

  /**
   * Takes bytes, or gives some back if the number is negative. A share that was released takes nothing any more, so that
   * a step of its task that ends late keeps nothing for good.
   * @returns whose limit does not permit it; nothing is taken then
   */
  take(bytes: number): Exhausted | undefined {
    if (this.isReleased) return undefined;
    const exhausted = this.takeFor(bytes);
    if (!exhausted) this.held += bytes;
    return exhausted;
  }

  /** Gives everything back. */
  release(): void {
    this.take(-this.held);
    this.isReleased = true;
  }
}

/** What V8 adds to the characters of a text. */
const TEXT_BYTES = 16;
const BEYOND_LATIN_1 = /[^\x00-\xff]/;

/** What V8 takes for each byte of parsed JSON at most, measured: an object whose members have names of their own. */
const PARSED = 20;

/**
 * Returns how many bytes of memory are held by a text, or by the values that are parsed from so many bytes of JSON or
 * CSV. A limit of memory counts by this function and by nothing else: the length of a text says little about what is
 * held of it.
 */
export function heldBytes(held: string | { readonly parsedFrom: number }): number {
  if (typeof held !== 'string') return PARSED * held.parsedFrom;
  return TEXT_BYTES + (BEYOND_LATIN_1.test(held) ? 2 * held.length : held.length);
}

/** Returns the same text in memory of its own. V8 keeps a whole text for a part of it, such as a line for its cell. */
export function detached(text: string): string {
  return Buffer.from(text).toString();
}
