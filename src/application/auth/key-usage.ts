import type { ApiKey } from '../../domain/api-key.js';
import type { Id, Instant } from '../../domain/record.js';
import { HOUR_MS } from '../maintenance/retention.js';
import type { Clock } from '../ports/clock.js';
import type { RouteUsage, UsageCount, UsageStore } from '../ports/usage-store.js';

/** The hours before the current one that are shown. */
const HOURS = 24;

/** The requests of an API key since a moment that is 24 to 25 hours ago. At least one. */
export interface KeyUsage {
  readonly since: Instant;
  readonly requests: number;
  /** The most requests first. */
  readonly byRoute: readonly RouteUsage[];
}

/** An API key with its usage, which is not part of the record. */
export interface UsedApiKey extends ApiKey {
  /** Absent if it has none, or was not read. */
  readonly usage?: KeyUsage;
}

/** Reads the usage of API keys. All processes with the same store read the same. */
export class KeyUsageReader {
  constructor(
    private readonly store: Pick<UsageStore, 'find'>,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /**
   * Returns the usage of those keys that have any: the requests of the current hour and the 24 before it.
   * @throws AppError `unavailable`
   */
  async read(keyIds: readonly Id[]): Promise<ReadonlyMap<Id, KeyUsage>> {
    if (keyIds.length === 0) return new Map();
    const since = startOfHour(this.clock.now()) - HOURS * HOUR_MS;
    const counts = new Map<Id, UsageCount[]>();
    for (const count of await this.store.find(keyIds, since)) {
      const others = counts.get(count.keyId);
      if (others) others.push(count);
      else counts.set(count.keyId, [count]);
    }
    return new Map([...counts].map(([keyId, all]) => [keyId, usageOf(all, since)]));
  }
}

export function startOfHour(at: Instant): Instant {
  return at - (at % HOUR_MS);
}

function usageOf(counts: readonly UsageCount[], since: Instant): KeyUsage {
  const sums = new Map<string, RouteUsage>();
  for (const one of counts.flatMap(({ routes }) => routes)) {
    const { method, route, version } = one;
    const name = `${route} ${method} ${version}`;
    const requests = one.requests + (sums.get(name)?.requests ?? 0);
    sums.set(name, { method, route, version, requests });
  }
  const byRoute = [...sums]
    .sort(([a, { requests }], [b, other]) => other.requests - requests || (a < b ? -1 : 1))
    .map(([, usage]) => usage);
  return { since, requests: byRoute.reduce((sum, { requests }) => sum + requests, 0), byRoute };
}
