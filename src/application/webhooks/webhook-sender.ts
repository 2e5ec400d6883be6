import { isDeepStrictEqual } from 'node:util';
import { type ApiKey, keyPrincipalId } from '../../domain/api-key.js';
import { AppError } from '../../domain/errors.js';
import { type Id, type Instant, RESOURCES, type ResourceName, type Versioned } from '../../domain/record.js';
import {
  type DeliveryAttempt,
  isAccepted,
  isFailing,
  keyProblem,
  type PendingMessage,
  type ReadPosition,
  roundOf,
  unusableReason,
  type Webhook,
  type WebhookState,
  withAttempt,
} from '../../domain/webhook.js';
import { FairSemaphore } from '../../shared/fair-semaphore.js';
import { forEach } from '../../shared/promises.js';
import { POSITION_MS } from '../changes/change-reader.js';
import type { ChangeWatch } from '../changes/change-watch.js';
import type { ChangeFeed, FeedPosition, RecordChange } from '../ports/change-feed.js';
import type { Clock, Timer } from '../ports/clock.js';
import { BY_ID } from '../ports/list-query.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { Repository } from '../ports/repository.js';
import type { WebhookPauseReason } from '../ports/webhooks.js';
import { paginate } from '../records/lists.js';
import { nextVersion } from '../records/write-conditions.js';
import type { Deliveries } from './deliveries.js';

const MINUTE_MS = 60_000;
/** The pauses before the next attempts. The last one repeats. */
const RETRY_MS = [10_000, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS, 240 * MINUTE_MS];
const LONGEST_RETRY_MS = Math.max(...RETRY_MS);
/** How far the clocks of two processes may differ. */
const TOLERANCE_MS = 30_000;
/** Longer than an attempt takes, also if the clocks of two processes differ by some seconds. */
const LEASE_MS = 30_000;
/** How often the webhooks are read, of which other processes may have changed some. */
const RELOAD_MS = 5_000;
/** The pause after a reload in multiples of its time, so that many webhooks take a twentieth of a process at most. */
const RELOAD_PAUSES = 19;
/** The age at which the position in a feed without changes is stored again. */
const REFRESH_MS = 60 * MINUTE_MS;
/** After an error of the store. */
const ERROR_PAUSE_MS = 1_000;
/** After the service itself had no look-up or connection for a message: such a message is sent within 10 seconds. */
const OWN_LIMIT_PAUSE_MS = 3_000;
/** What is watched of a webhook until it is paused because of its fields. */
const UNUSABLE: Pick<Webhook, 'resources' | 'createdBy'> = { resources: [], createdBy: 0 };
const MAX_CHANGES = 100;
/**
 * Messages under way in this process, of different webhooks. The client is the key that made the webhook, so that hanging
 * receivers hold up none but those of the same key.
 */
const SLOTS = { total: 32, perClient: 8, maxWaiting: Number.POSITIVE_INFINITY, patienceMs: MINUTE_MS };
const PAGE = 1_000;

export interface WebhookSenderDependencies {
  readonly webhooks: Pick<Repository<Webhook>, 'find' | 'list' | 'replaceAll'>;
  readonly deliveries: Deliveries;
  readonly keys: Pick<Repository<ApiKey>, 'findAllByUnique'>;
  readonly feeds: Readonly<Record<ResourceName, ChangeFeed<unknown>>>;
  readonly watches: Readonly<Partial<Record<ResourceName, Pick<ChangeWatch, 'follow' | 'unfollow'>>>>;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Pick<Logger, 'warn'>;
  readonly metrics: Metrics;
  /** Differs from that of every other process. */
  readonly owner: string;
  /** Returns the address of the changes of a resource behind a position, without the host. */
  readonly addressOf: (resource: ResourceName, position: FeedPosition) => string;
}

/** A webhook that may send, as this process knows it. */
interface Watched {
  readonly id: Id;
  version: number;
  resources: readonly ResourceName[];
  createdBy: Id;
  /** Whether there may be something to send. */
  isDue: boolean;
  isBusy: boolean;
  /** When its positions were last read. */
  readAt: Instant;
  /** Nothing happens before: another process sends, or the newest attempt failed. */
  waitsUntil: Instant;
  /** When the message was made that was not taken yet. */
  pendingSince: Instant | undefined;
}

/**
 * Sends the messages of all webhooks: one at a time for each webhook, in the order of the feeds, each until the receiver
 * takes it. Every process of a store runs one. The one that stores a lease on a webhook sends; a position advances only by
 * the compare-and-write of the lease's owner after a 2xx. So a message may be sent twice, if a process ends or a lease
 * runs out before, and none is left out.
 */
export class WebhookSender {
  private watched = new Map<Id, Watched>();
  private readonly wakers = new Map(RESOURCES.map((name) => [name, () => this.wakeAll(name)]));
  private readonly slots = new FairSemaphore(SLOTS);
  private readonly steps = new Set<Promise<void>>();
  private readonly stopping = new AbortController();
  private reloadAt = Number.NEGATIVE_INFINITY;
  /** No reload begins before. */
  private restsUntil = Number.NEGATIVE_INFINITY;
  private isStopped = false;
  private failure: unknown;
  /** The webhooks of which the log has said so. */
  private readonly unreadable = new Set<Id>();

  constructor(private readonly deps: WebhookSenderDependencies) {}

  /**
   * Follows the feeds, and begins what is due. Call it several times a second.
   * @throws AppError `unavailable`, also for what began earlier
   */
  async run(): Promise<void> {
    if (this.deps.clock.elapsed() >= this.reloadAt) await this.reload();
    await this.follow().catch((error: unknown) => this.fail(error));
    const now = this.deps.clock.now();
    for (const webhook of this.watched.values()) {
      if (Math.abs(now - webhook.readAt) >= REFRESH_MS) webhook.isDue = true;
      this.startIfDue(webhook);
    }
    const { failure } = this;
    this.failure = undefined;
    if (failure) throw failure;
  }

  /** The webhooks have changed: a {@link run} reads them soon. */
  wake(): void {
    this.reloadAt = this.restsUntil;
  }

  /** Begins nothing more, and cuts off after some time what is under way. Resolves when nothing is. */
  async stop(withinMs: number): Promise<void> {
    this.isStopped = true;
    const cancel = this.deps.timer.after(withinMs, () => this.stopping.abort());
    await Promise.all(this.steps);
    cancel();
  }

  /** How long the oldest message that this process knows of was not taken, in milliseconds. */
  get lagMs(): number {
    const since = [...this.watched.values()].flatMap(({ pendingSince }) => pendingSince ?? []);
    return since.length === 0 ? 0 : Math.max(0, this.deps.clock.now() - Math.min(...since));
  }

  private async reload(): Promise<void> {
    const { webhooks, keys, clock } = this.deps;
    const begun = clock.elapsed();
    this.reloadAt = begun + RELOAD_MS;
    const found = new Map<Id, Watched>();
    for await (const page of paginate(webhooks, { limit: PAGE, filters: [], order: BY_ID })) {
      const active = page.filter((webhook) => this.isReadable(webhook) && webhook.fields.status !== 'paused');
      const usable = new Set(active.filter(({ fields }) => unusableReason(fields) === undefined));
      const makers = [...new Set([...usable].map(({ fields }) => fields.createdBy))];
      const made = new Map((await keys.findAllByUnique('id', makers)).map((key, at) => [makers[at], key]));
      const watchAll = forEach(active, async (webhook) => {
        const isUsable = usable.has(webhook);
        // Its step pauses it.
        const mustPause =
          !isUsable || keyProblem(made.get(webhook.fields.createdBy), webhook.fields, clock.now()) !== undefined;
        const watched = this.watch(webhook, isUsable);
        found.set(webhook.id, watched);
        if (mustPause) this.wait(watched, 0);
      });
      await watchAll.catch((error: unknown) => this.fail(error));
    }
    // Until its step ends, a webhook keeps its entry: one step at a time.
    for (const webhook of this.watched.values()) if (webhook.isBusy) found.set(webhook.id, webhook);
    this.watched = found;
    const ended = clock.elapsed();
    this.restsUntil = ended + RELOAD_PAUSES * (ended - begun);
    this.reloadAt = Math.max(this.reloadAt, this.restsUntil);
  }

  /** Whether the fields can be read at all. Those of a damaged file may not even be JSON. */
  private isReadable(webhook: Versioned<Webhook>): boolean {
    try {
      return webhook.fields !== undefined;
    } catch (error) {
      if (!this.unreadable.has(webhook.id))
        this.deps.logger.warn('a webhook cannot be read, and sends nothing', {
          webhookId: webhook.id,
          error,
        });
      this.unreadable.add(webhook.id);
      return false;
    }
  }

  private watch({ id, version, fields }: Versioned<Webhook>, isUsable: boolean): Watched {
    const known = this.watched.get(id);
    if (known?.version === version) return known;
    const { resources, createdBy } = isUsable ? fields : UNUSABLE;
    const changed = { version, resources, createdBy, isDue: true, waitsUntil: 0 };
    if (known) return Object.assign(known, changed);
    return { id, ...changed, isBusy: false, readAt: this.deps.clock.now(), pendingSince: undefined };
  }

  /** Follows the feeds of the resources that a webhook names, and no others. */
  private follow(): Promise<void> {
    const named = new Set([...this.watched.values()].flatMap(({ resources }) => resources));
    return forEach(this.wakers, async ([name, wake]) => {
      const watch = this.deps.watches[name];
      if (named.has(name)) await watch?.follow(wake);
      else watch?.unfollow(wake);
    });
  }

  private wakeAll(name: ResourceName): void {
    for (const webhook of this.watched.values()) {
      if (!webhook.resources.includes(name)) continue;
      webhook.isDue = true;
      this.startIfDue(webhook);
    }
  }

  private startIfDue(webhook: Watched): void {
    if (this.isStopped || !webhook.isDue || webhook.isBusy) return;
    if (this.waitOf(webhook.waitsUntil, LONGEST_RETRY_MS) > 0) return;
    webhook.isDue = false;
    webhook.isBusy = true;
    const step = this.stepOf(webhook).finally(() => {
      this.steps.delete(step);
      this.startIfDue(webhook);
    });
    this.steps.add(step);
  }

  private async stepOf(webhook: Watched): Promise<void> {
    const slot = await this.slots.acquire(keyPrincipalId(webhook.createdBy));
    try {
      if (slot && !this.isStopped) await this.step(webhook);
      else webhook.isDue = true;
    } catch (error) {
      this.fail(error);
      this.wait(webhook, this.deps.clock.now() + ERROR_PAUSE_MS);
    }
    webhook.isBusy = false;
    slot?.release();
  }

  /** The next end of {@link run} throws it; what else is due goes on. */
  private fail(error: unknown): void {
    this.failure ??= error;
  }

  private wait(webhook: Watched, until: Instant): void {
    webhook.isDue = true;
    webhook.waitsUntil = until;
  }

  /** Sends at most one message. */
  private async step(watched: Watched): Promise<void> {
    const { webhooks, deliveries, clock } = this.deps;
    const { id } = watched;
    const webhook = await webhooks.find(id);
    if (webhook?.fields.status !== 'active') {
      this.watched.delete(id);
      return;
    }
    const problem = await deliveries.problemOf(webhook);
    if (problem) return this.pause(webhook, problem.reason, problem.text);
    const state = await deliveries.state(id);
    watched.pendingSince = state.pending?.madeAt;
    const waitMs = this.busyFor(webhook.fields, state);
    if (waitMs > 0) return this.wait(watched, clock.now() + waitMs);
    watched.readAt = clock.now();
    const news: News = new Map();
    const message = await this.messageFor(webhook.fields, state, news);
    if (message === 'expired') return this.pause(webhook, 'expired', EXPIRED);
    if (!message) {
      if (news.size > 0) await this.store(id, state, news);
      return;
    }
    watched.isDue = true;
    const lease = { owner: this.deps.owner, until: clock.now() + LEASE_MS };
    if (!(await this.store(id, state, news, { pending: message, lease }))) return;
    watched.pendingSince = message.madeAt;
    await this.settle(watched, webhook, message, await this.send(webhook, message));
  }

  /** How long another process may send, or this one pauses. */
  private busyFor(webhook: Webhook, state: WebhookState): number {
    const { lease, failures } = state;
    return Math.max(
      lease && lease.owner !== this.deps.owner ? this.waitOf(lease.until, LEASE_MS) : 0,
      failures && isFailing(webhook, state) ? this.waitOf(failures.nextAt, LONGEST_RETRY_MS) : 0,
    );
  }

  /**
   * How long it is until a stored moment. None if a clock was wrong that stored it.
   * @param longestMs how far ahead the moment was at most
   */
  private waitOf(until: Instant, longestMs: number): number {
    const waitMs = until - this.deps.clock.now();
    return waitMs > 0 && waitMs <= longestMs + TOLERANCE_MS ? waitMs : 0;
  }

  /** @returns undefined if there is nothing to send; `expired` if changes may be missing that failed to be sent */
  private async messageFor(
    webhook: Webhook,
    state: WebhookState,
    news: News,
  ): Promise<PendingMessage | 'expired' | undefined> {
    const pending = await this.stillPending(webhook, state);
    if (pending) return pending;
    const mayBeMissing = isFailing(webhook, state);
    for (const [name, position] of positionsOf(webhook, state)) {
      const now = this.deps.clock.now();
      // A feed shows no deletion whose tombstone was purged by a process that knew no feeds.
      const isOld = now - position.readAt > POSITION_MS;
      const page = isOld ? undefined : await this.deps.feeds[name].read(position.at, MAX_CHANGES);
      if (mayBeMissing && page?.changes.length !== 0) return 'expired';
      if (!page) return this.message(name, position, await this.deps.feeds[name].end());
      if (page.changes.length > 0) return this.message(name, position, page.next, page.changes);
      // The clock may have been ahead.
      if (Math.abs(now - position.readAt) >= REFRESH_MS) news.set(name, { ...position, at: page.next, readAt: now });
    }
    return undefined;
  }

  /** The message that was not taken yet, if its cursor is still good. */
  private async stillPending(
    { starts }: Webhook,
    { pending, places }: WebhookState,
  ): Promise<PendingMessage | undefined> {
    if (!pending || starts[pending.resource]?.at !== pending.start) return undefined;
    if (this.deps.clock.now() - pending.madeAt > POSITION_MS) return undefined;
    const from = pending.type.endsWith(RESYNC) ? pending.next : (places[pending.resource]?.at ?? pending.start);
    return (await this.deps.feeds[pending.resource].read(from, 1)) && pending;
  }

  /** @param changes absent: some are missing. The receiver reads everything, and then what follows */
  private message(
    resource: ResourceName,
    { start }: ReadPosition,
    next: FeedPosition,
    changes?: readonly RecordChange<unknown>[],
  ): PendingMessage {
    const { deliveries, addressOf } = this.deps;
    const thin = changes?.map((change) => ({
      id: change.id,
      version: change.version,
      ...('deleted' in change && { deleted: true }),
    }));
    const data = { ...(thin && { changes: thin }), next: addressOf(resource, next) };
    const type = `${resource}${thin ? '.changed' : RESYNC}`;
    return { ...deliveries.message(type, thin?.length ?? 0, data), resource, start, next };
  }

  /** Stores newer positions and a message with its lease, unless another process has changed the state. @returns whether it did */
  private async store(
    id: Id,
    seen: WebhookState,
    news: News,
    sending?: Pick<WebhookState, 'pending' | 'lease'>,
  ): Promise<boolean> {
    const stored = await this.deps.deliveries.change(id, (state) => {
      if (!isDeepStrictEqual(sendingPart(state), sendingPart(seen))) return undefined;
      return { ...state, places: { ...state.places, ...Object.fromEntries(news) }, ...sending };
    });
    return stored !== undefined;
  }

  /** @returns undefined if it was cut off by {@link stop}, or the service itself had no look-up or connection for it */
  private async send(webhook: Versioned<Webhook>, message: PendingMessage): Promise<DeliveryAttempt | undefined> {
    const { signal } = this.stopping;
    try {
      const attempt = await this.deps.deliveries.send(webhook, message, signal);
      return signal.aborted && attempt.status === undefined ? undefined : attempt;
    } catch (error) {
      if (error instanceof AppError) return undefined;
      throw error;
    }
  }

  private async settle(
    watched: Watched,
    webhook: Versioned<Webhook>,
    message: PendingMessage,
    attempt: DeliveryAttempt | undefined,
  ): Promise<void> {
    const { deliveries, clock, owner, metrics } = this.deps;
    const now = clock.now();
    if (attempt) metrics.increment('webhook_deliveries_total', outcomeOf(attempt));
    const settled = await deliveries.change(webhook.id, (state) => {
      // Another process may have taken it over.
      if (state.lease?.owner !== owner || state.pending?.id !== message.id) return undefined;
      const { lease: _over, ...free } = state;
      if (!attempt) return free;
      const noted = withAttempt(free, attempt);
      return isAccepted(attempt) ? advanced(noted, message, now) : failed(noted, webhook.fields, attempt, now);
    });
    if (!attempt) return this.wait(watched, now + OWN_LIMIT_PAUSE_MS);
    if (!settled) return;
    watched.pendingSince = settled.pending?.madeAt;
    if (attempt.status === 410) await this.pause(webhook, 'gone', 'The receiver responded with 410');
    else if (settled.failures) this.wait(watched, settled.failures.nextAt);
  }

  /** Pauses a webhook, unless it has changed. */
  private async pause(webhook: Versioned<Webhook>, reason: WebhookPauseReason, text: string): Promise<void> {
    const { webhooks, deliveries, clock, logger, metrics } = this.deps;
    const { id, version, fields } = webhook;
    const record = nextVersion(webhook, { ...fields, status: 'paused' as const }, clock.now());
    const [outcome] = await webhooks.replaceAll([{ record, expected: version, before: fields }]);
    if (outcome instanceof AppError) throw outcome;
    const watched = this.watched.get(id);
    if (outcome !== 'replaced') {
      if (watched) watched.isDue = true;
      return;
    }
    this.watched.delete(id);
    if (watched) watched.isDue = false;
    metrics.increment('webhook_pauses_total', reason);
    logger.warn('a webhook was paused', { webhookId: id, reason, detail: text });
    await deliveries.change(id, (state) => ({ ...state, lastError: text }));
  }
}

const RESYNC = '.resync';
const EXPIRED = 'The receiver took no message for so long that changes may be missing';

/** Positions behind which nothing was found, to be stored before the older ones expire. */
type News = Map<ResourceName, ReadPosition>;

/** The positions of the resources, the oldest first, so that each has its turn. */
function positionsOf({ resources, starts }: Webhook, { places }: WebhookState): [ResourceName, ReadPosition][] {
  return resources
    .map((name): [ResourceName, ReadPosition] => {
      const { at, readAt } = starts[name] ?? { at: '', readAt: 0 };
      const stored = places[name];
      return [name, stored?.start === at ? stored : { start: at, at, readAt }];
    })
    .sort(([, one], [, other]) => one.readAt - other.readAt);
}

/** The part of a state that decides what is sent, and by which process. */
function sendingPart({ places, pending, lease, failures }: WebhookState) {
  return [places, pending?.id, lease?.owner, lease?.until, failures];
}

function advanced(state: WebhookState, message: PendingMessage, now: Instant): WebhookState {
  const { pending: _taken, failures: _past, lastError: _pastToo, ...rest } = state;
  const position: ReadPosition = { start: message.start, at: message.next, readAt: message.madeAt };
  return { ...rest, places: { ...rest.places, [message.resource]: position }, lastDeliveryAt: now };
}

function failed(state: WebhookState, webhook: Webhook, { status, error }: DeliveryAttempt, now: Instant): WebhookState {
  const count = (isFailing(webhook, state) ? (state.failures?.count ?? 0) : 0) + 1;
  const nextAt = now + (RETRY_MS[Math.min(count, RETRY_MS.length) - 1] ?? 0);
  const lastError = error ?? `The receiver responded with ${status}`;
  return { ...state, failures: { round: roundOf(webhook), count, nextAt }, lastError };
}

function outcomeOf(attempt: DeliveryAttempt) {
  if (attempt.status === undefined) return 'failed';
  return isAccepted(attempt) ? 'accepted' : 'rejected';
}
