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
