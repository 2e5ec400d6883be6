import type { Purgeable } from '../../../application/ports/purgeable.js';
import { TOMBSTONE_MS } from '../../../application/retention.js';
import type { Id, Instant } from '../../../domain/record.js';
import { ExpiryIndex } from './expiry-index.js';

/** The ids that deleted records had. */
export class MemoryTombstones implements Purgeable {
  readonly retentionMs = TOMBSTONE_MS;
  private readonly deletedAt = new ExpiryIndex<Id, Instant>((at) => at);

  add(id: Id, at: Instant): void {
    this.deletedAt.add(id, at);
  }

  has(id: Id): boolean {
    return this.deletedAt.has(id);
  }

  async purgeBefore(moment: Instant, limit: number): Promise<number> {
    return this.deletedAt.purgeBefore(moment, limit);
  }
}
