import { AppError, unavailable } from '../../domain/errors.js';
import type { Versioned } from '../../domain/record.js';
import type { Webhook } from '../../domain/webhook.js';
import { FairSemaphore } from '../../shared/fair-semaphore.js';
import type { Repository } from '../ports/repository.js';

/** The most webhooks of one API key, by `createdBy`. */
const MAX_OF_KEY = 100;
/** The most webhooks of a store: each of them connects somewhere for each change. */
const MAX_IN_ALL = 1_000;
/** One at a time, so that the limits are exact within this process. */
const WRITES = { total: 1, perClient: 1, maxWaiting: 200, patienceMs: 5_000 };

/**
 * Returns the webhooks as a store in which no write exceeds the limits: no further webhook is inserted, and none changes
 * its `createdBy` to a key that has its most. The outcome of such a write is the error `limit_reached`. Webhooks beyond
 * the limits, of another process or an earlier release, stay and can be changed.
 * @throws AppError `unavailable` if too many writes wait
 */
export function limitedWebhooks(records: Repository<Webhook>): Repository<Webhook> {
  const writes = new FairSemaphore(WRITES);
  const isPermitted = async ({ id, fields: { createdBy } }: Versioned<Webhook>, isNew: boolean) => {
    const isFull = isNew && (await records.count([])) >= MAX_IN_ALL;
    const own = [{ field: 'createdBy', operator: 'eq', value: createdBy } as const];
    if (!isFull && (await records.count(own)) < MAX_OF_KEY) return true;
    // Another request with the same idempotency key may have just made it: then the store says so.
    return isNew && (await records.findUsedIds([id])).has(id);
  };
  const write = async <Outcome>(
    webhook: Versioned<Webhook>,
    isNew: boolean,
    run: () => Promise<readonly Outcome[]>,
  ): Promise<readonly (Outcome | AppError)[]> => {
    const permit = await writes.acquire(String(webhook.fields.createdBy));
    if (!permit) throw unavailable('Too many webhooks are being made. This one was not; try again.');
    try {
      return (await isPermitted(webhook, isNew)) ? await run() : [limitReached()];
    } finally {
      permit.release();
    }
  };
  return Object.assign(Object.create(records) as Repository<Webhook>, {
    insertAll: (webhooks) => eachOf(webhooks, (one) => write(one, true, () => records.insertAll([one]))),
    replaceAll: (replacements) =>
      eachOf(replacements, (one) => {
        const run = () => records.replaceAll([one]);
        const { record, before } = one;
        return record.fields.createdBy === before?.createdBy ? run() : write(record, false, run);
      }),
  } satisfies Pick<Repository<Webhook>, 'insertAll' | 'replaceAll'>);
}

async function eachOf<Item, Outcome>(
  items: readonly Item[],
  write: (item: Item) => Promise<readonly Outcome[]>,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const item of items) outcomes.push(...(await write(item)));
  return outcomes;
}

function limitReached(): AppError {
  return new AppError(
    'limit_reached',
    `An API key has at most ${MAX_OF_KEY} webhooks, and a store ${MAX_IN_ALL} in all. Delete one that is not needed.`,
  );
}
