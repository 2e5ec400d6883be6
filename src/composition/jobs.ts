import type { UsageCounter } from '../application/auth/key-usage.js';
import type { Retention } from '../application/maintenance/retention.js';
import type { SearchIndexing } from '../application/maintenance/search-indexing.js';
import type { FeedState } from '../application/ports/change-feed.js';
import type { Clock } from '../application/ports/clock.js';
import type { WebhookSender } from '../application/webhooks/webhook-sender.js';

/** What the service runs at intervals while its store is open. */
export interface Job {
  /** May end early if `isOver` returns true. */
  run(isOver: () => boolean): Promise<void>;
  /** The pause before the first run. */
  readonly firstMs: number;
  readonly intervalMs: number;
  /** Whether the job runs once more when the service stops. */
  readonly runsAtStop?: boolean;
  /** Ends what the job has begun, within so many milliseconds. */
  finish?(withinMs: number): Promise<void>;
  /** The warning in the log if a run fails. The next run tries again. */
  readonly failure: string;
}

/** Purges expired reservations, tombstones and usage. */
export function purging(retention: Retention): Job {
  return {
    run: (isOver) => retention.purgeExpired(isOver),
    firstMs: 60_000,
    intervalMs: 10 * 60_000,
    failure: 'expired entries could not be purged; the next run tries again',
  };
}

/** Saves the usage of API keys. A process that crashes loses the requests since the last run. */
export function savingUsage(counter: UsageCounter): Job {
  return {
    run: () => counter.save(),
    firstMs: 10_000,
    intervalMs: 10_000,
    runsAtStop: true,
    failure: 'the usage of API keys could not be saved; the next run tries again',
  };
}

/** Indexes the records that an earlier release wrote, at the start and while such a release still runs. */
export function indexingWords(indexing: SearchIndexing): Job {
  return {
    run: (isOver) => indexing.run(isOver),
    firstMs: 0,
    intervalMs: 60_000,
    failure: 'records could not be indexed; the next run tries again',
  };
}

/** Reports changes to the receivers of webhooks. */
export function sendingWebhooks(sender: WebhookSender): Job {
  return {
    run: () => sender.run(),
    firstMs: 0,
    intervalMs: 250,
    finish: (withinMs) => sender.stop(withinMs),
    failure: 'webhooks could not be sent, because the store fails; the next run tries again',
  };
}

/** Maintains the feeds of a store that needs it, also while nobody reads them. */
export function maintainingFeeds(feedState: FeedState, clock: Clock): Job[] {
  if (!feedState.maintain) return [];
  return [
    {
      run: async () => feedState.maintain?.(clock.now()),
      firstMs: 10_000,
      intervalMs: 10_000,
      failure: 'the feeds of changes could not be maintained; the next run tries again',
    },
  ];
}
