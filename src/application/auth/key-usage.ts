import { type ApiKey, keyIdOf } from '../../domain/api-key.js';
import type { Id, Instant } from '../../domain/record.js';
import { HOUR_MS } from '../maintenance/retention.js';
import type { Clock } from '../ports/clock.js';
import { type Observer, type RequestEntry, SERVED_METHODS } from '../ports/observer.js';
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

/**
 * Returns the usage of those keys that have any: the requests of the current hour and the 24 before it. All processes
 * with the same store read the same.
 * @throws AppError `unavailable`
 */
export async function readUsage(
  store: Pick<UsageStore, 'find'>,
  keyIds: readonly Id[],
  now: Instant,
): Promise<ReadonlyMap<Id, KeyUsage>> {
  const since = startOfHour(now) - HOURS * HOUR_MS;
  const counts = keyIds.length === 0 ? [] : await store.find(keyIds, since);
  const used = keyIds.filter((id) => counts.some(({ keyId }) => keyId === id));
  return new Map(
    used.map((id) => [
      id,
      usageOf(
        counts.filter(({ keyId }) => keyId === id),
        since,
      ),
    ]),
  );
}

function startOfHour(at: Instant): Instant {
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

/** The methods that need a key. */
const COUNTED_METHODS: ReadonlySet<string> = new Set(SERVED_METHODS.filter((method) => method !== 'OPTIONS'));
/** The most numbers in memory, at most 10 MB. If the store cannot be reached, further ones are lost. */
const MAX_NUMBERS = 20_000;
/** The number of counts that one call of the store saves. */
const COUNTS_PER_CALL = 50;

export interface UsageCounterDependencies {
  readonly store: Pick<UsageStore, 'save'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Returns a name that no other counter has. */
  readonly newName: () => string;
}

/** What one key has requested in an hour. */
interface KeyTotals {
  readonly keyId: Id;
  /** By route, then by method. */
  readonly routes: Map<string, Map<string, RouteUsage & { requests: number }>>;
  isSaved: boolean;
}

/** The totals of one hour, or of a part of it if there are many. */
interface Totals {
  readonly hour: Instant;
  readonly name: string;
  /** By principal. */
  readonly keys: Map<string, KeyTotals>;
  /** The number of entries by key, route and method. */
  numbers: number;
}

/**
 * Counts the requests of API keys, access tokens of the built-in issuer included, by method and route. No request waits
 * for the store: {@link save} is called every few seconds. It saves totals of an hour, and not what was added since the
 * last call, so that a repeated save counts nothing twice.
 */
export class UsageCounter implements Observer {
  private current: Totals;
  /** Of earlier hours, not saved completely yet. */
  private earlier: Totals[] = [];

  constructor(
    private readonly deps: UsageCounterDependencies,
    private readonly maxNumbers = MAX_NUMBERS,
  ) {
    this.current = this.newTotals();
  }

  request(): this {
    return this;
  }

  /** Counts a request that found a route and has an API key, with any status. */
  end({ principal, method, route, version }: RequestEntry): void {
    if (principal === undefined || version === undefined) return;
    const key = this.current.keys.get(principal);
    const usage = key?.routes.get(route)?.get(method);
    if (key && usage) {
      usage.requests++;
      key.isSaved = false;
    } else this.countFirst(principal, { method, route, version, requests: 1 });
  }

  /**
   * Saves what was counted since the last call, under the hour in which that call was. Call it again after a failure.
   * @throws AppError `unavailable`
   */
  async save(): Promise<void> {
    if (this.current.hour !== startOfHour(this.deps.clock.now())) this.beginTotals();
    for (let totals = this.earlier[0]; totals; totals = this.earlier[0]) {
      await this.saveTotals(totals);
      this.earlier.shift();
    }
    await this.saveTotals(this.current);
    if (this.current.numbers > this.maxNumbers / 2) this.beginTotals();
  }

  /** Keeps the totals so far only if they are not saved yet. */
  private beginTotals(): void {
    if (unsaved(this.current).length > 0) this.earlier.push(this.current);
    this.current = this.newTotals();
  }

  private newTotals(): Totals {
    const { clock, newName } = this.deps;
    return { hour: startOfHour(clock.now()), name: newName(), keys: new Map(), numbers: 0 };
  }

  private countFirst(principal: string, usage: RouteUsage): void {
    const numbers = this.earlier.reduce((sum, totals) => sum + totals.numbers, this.current.numbers);
    if (!COUNTED_METHODS.has(usage.method) || numbers >= this.maxNumbers) return;
    const keyId = keyIdOf({ id: principal });
    if (keyId === undefined) return;
    const { keys } = this.current;
    const key = keys.get(principal) ?? { keyId, routes: new Map(), isSaved: false };
    const methods = key.routes.get(usage.route) ?? new Map();
    keys.set(principal, key);
    key.routes.set(usage.route, methods);
    methods.set(usage.method, usage);
    key.isSaved = false;
    this.current.numbers++;
  }

  private async saveTotals(totals: Totals): Promise<void> {
    const { hour, name: counter } = totals;
    const keys = unsaved(totals);
    for (let at = 0; at < keys.length; at += COUNTS_PER_CALL) {
      const batch = keys.slice(at, at + COUNTS_PER_CALL);
      const counts = batch.map(({ keyId, routes }) => {
        const all = [...routes.values()].flatMap((methods) => [...methods.values()]);
        return { keyId, hour, counter, routes: all.map((usage) => ({ ...usage })) };
      });
      // Before the call: requests that end during it are saved by the next one.
      for (const key of batch) key.isSaved = true;
      try {
        await this.deps.store.save(counts);
      } catch (error) {
        for (const key of batch) key.isSaved = false;
        throw error;
      }
    }
  }
}

function unsaved({ keys }: Totals): KeyTotals[] {
  return [...keys.values()].filter(({ isSaved }) => !isSaved);
}
