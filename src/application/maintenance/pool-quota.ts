import { unavailable } from '../../domain/errors.js';
import { FairSemaphore, type Permit } from '../../shared/fair-semaphore.js';
import { BACKGROUND } from '../../shared/task-scheduler.js';

/** The most waiting searches of a client for each that may run. If one takes a twentieth of the patience, more time out. */
const WAITING_PER_SEARCH = 20;

export interface ShareLimits {
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

  constructor({ searches, searchPatienceMs, batches, batchPatienceMs }: ShareLimits) {
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
