import { USAGE_MS } from '../../../application/maintenance/retention.js';
import type { Purgeable } from '../../../application/ports/purgeable.js';
import type { UsageCount, UsageStore } from '../../../application/ports/usage-store.js';
import type { Id, Instant } from '../../../domain/record.js';

/** Keeps usage in this process. */
export class MemoryUsageStore implements UsageStore, Purgeable {
  readonly retentionMs = USAGE_MS;
  private readonly counts = new Map<Id, Map<string, UsageCount>>();

  async save(counts: readonly UsageCount[]): Promise<void> {
    for (const count of counts) {
      const ofKey = this.counts.get(count.keyId) ?? new Map<string, UsageCount>();
      this.counts.set(count.keyId, ofKey);
      ofKey.set(nameOf(count), structuredClone(count));
    }
  }

  async find(keyIds: readonly Id[], since: Instant): Promise<readonly UsageCount[]> {
    const all = keyIds.flatMap((keyId) => [...(this.counts.get(keyId)?.values() ?? [])]);
    return structuredClone(all.filter(({ hour }) => hour >= since));
  }

  async purgeBefore(moment: Instant, limit: number): Promise<number> {
    const all = [...this.counts.values()].flatMap((ofKey) => [...ofKey.values()]);
    const past = all.filter(({ hour }) => hour < moment).sort((a, b) => a.hour - b.hour);
    const purged = past.slice(0, limit);
    for (const count of purged) {
      const ofKey = this.counts.get(count.keyId);
      ofKey?.delete(nameOf(count));
      if (ofKey?.size === 0) this.counts.delete(count.keyId);
    }
    return purged.length;
  }
}

function nameOf({ hour, counter }: UsageCount): string {
  return `${hour} ${counter}`;
}
