import { queryTooExpensive, unavailable } from '../../domain/errors.js';
import { FairSemaphore, type Permit } from '../../shared/fair-semaphore.js';
import { BACKGROUND, type Task } from '../../shared/task-scheduler.js';
import { CircuitBreaker, type CircuitBreakerOptions } from './circuit-breaker.js';

/** The most waiting searches of a client for each that may run. If one takes a twentieth of the patience, more time out. */
const WAITING_PER_SEARCH = 20;

export interface QuotaLimits {
  /** The queries without an index that may run at the same time. */
  readonly searches: number;
  /** How long such a query waits for its turn. */
  readonly searchPatienceMs: number;
  /** The operations of calls on many records that may run at the same time. */
  readonly batches: number;
  readonly batchPatienceMs: number;
}

/** Shares the connections to a server, so that long work leaves some to other operations, and clients take turns. */
export class PoolQuota {
  private readonly searches: FairSemaphore;
  private readonly batches: FairSemaphore;
  private readonly batchSlots: number;

  constructor({ searches, searchPatienceMs, batches, batchPatienceMs }: QuotaLimits) {
    this.searches = new FairSemaphore({
      total: searches,
      perClient: Math.max(1, Math.floor(searches / 2)),
      maxWaiting: searches * WAITING_PER_SEARCH,
      patienceMs: searchPatienceMs,
    });
    this.batchSlots = batches;
    this.batches = new FairSemaphore({
      total: batches,
      perClient: batches,
      maxWaiting: Number.POSITIVE_INFINITY,
      patienceMs: batchPatienceMs,
    });
  }

  /**
   * Waits until a query without an index may run. Release the permit when the query is done, not before: until then it
   * holds its connection, even if its caller has left.
   * @throws AppError `unavailable` if too many wait, or the wait was too long
   */
  async search({ client } = BACKGROUND): Promise<Permit> {
    const permit = await this.searches.acquire(client);
    if (!permit) throw unavailable('Too many queries run that no index serves. Try again later.');
    return permit;
  }

  /**
   * Carries out an operation for each item of a call on many records, some at the same time. All such calls take turns.
   * A call on one record is none of them.
   * @param isOne whether it is such a call
   * @returns the results in the order of the items; after an error, no further operation of the call starts
   * @throws AppError `unavailable` if the wait for a turn was too long
   */
  async each<Item, Result>(
    items: readonly Item[],
    operation: (item: Item) => Promise<Result>,
    isOne = items.length === 1,
  ): Promise<Result[]> {
    if (isOne) return Promise.all(items.map(operation));
    const results: Result[] = [];
    const rest = (function* () {
      yield* items.entries();
    })();
    let hasFailed = false;
    const worker = async () => {
      for (const [at, item] of rest) {
        const permit = await this.batches.acquire('');
        try {
          if (hasFailed) return;
          if (!permit) throw unavailable('Too many records are being changed. Try again later.');
          results[at] = await operation(item);
        } catch (error) {
          hasFailed = true;
          throw error;
        } finally {
          permit?.release();
        }
      }
    };
    await Promise.all(Array.from({ length: this.batchSlots }, worker));
    return results;
  }
}

export interface ServerCallOptions {
  readonly breaker: CircuitBreakerOptions;
  readonly quota: QuotaLimits;
  /** How long a caller waits for an operation. */
  readonly operationMs: number;
  /** How long a caller waits for a search, from its turn on. */
  readonly searchMs: number;
  /** Whether the server gave up on a query because of its cost. */
  readonly isTooExpensive: (error: unknown) => boolean;
}

/** The calls to a server. Each waits a limited time, and only until an outage begins. */
export class ServerCalls {
  readonly breaker: CircuitBreaker;
  readonly quota: PoolQuota;
  /** Set when the store is open. Before that, two records could get one unique value. */
  isOpen = false;

  constructor(private readonly options: ServerCallOptions) {
    this.breaker = new CircuitBreaker(options.breaker);
    this.quota = new PoolQuota(options.quota);
  }

  /**
   * Waits for an operation, which may serve other callers too. If it is not done in time, its outcome is unknown.
   * @throws AppError `unavailable`, immediately before the store is open and during an outage; definite errors of the
   *   server
   */
  async run<Result>(operation: () => Promise<Result>): Promise<Result> {
    this.check();
    return this.breaker.wait(this.options.operationMs, operation());
  }

  /**
   * Waits for a query that no index serves. Few such queries run at once, and clients take turns.
   * @throws as {@link run}; AppError `query_too_expensive`
   */
  async search<Result>(query: () => Promise<Result>, task?: Task): Promise<Result> {
    this.check();
    const permit = await this.quota.search(task);
    const run = async () => {
      try {
        this.check();
        return await query();
      } catch (error) {
        if (!this.options.isTooExpensive(error)) throw error;
        this.breaker.responded();
        throw queryTooExpensive();
      } finally {
        // Until then the query holds its connection, even if its caller has left.
        permit.release();
      }
    };
    return this.breaker.wait(this.options.searchMs, run());
  }

  private check(): void {
    if (!this.isOpen) throw unavailable('The store is not open.');
    this.breaker.check();
  }
}
