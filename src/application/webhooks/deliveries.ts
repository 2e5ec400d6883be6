import { createHmac } from 'node:crypto';
import { type ApiKey, keyPrincipalId } from '../../domain/api-key.js';
import { AppError } from '../../domain/errors.js';
import type { Id, Versioned } from '../../domain/record.js';
import {
  type DeliveryAttempt,
  keyProblem,
  type PendingMessage,
  signingSecrets,
  unusableReason,
  usableState,
  type Webhook,
  type WebhookState,
} from '../../domain/webhook.js';
import type { Backoff, Clock } from '../ports/clock.js';
import type { Repository } from '../ports/repository.js';
import type { WebhookPauseReason, WebhookTransport } from '../ports/webhooks.js';
import { MAX_ATTEMPTS, nextVersion, timeOfDeletion, tooManyRaces } from '../records/write-conditions.js';

export type Message = Pick<PendingMessage, 'id' | 'type' | 'changes' | 'body' | 'madeAt'>;

/** Why a webhook must not send, and the same in words: a sentence without its full stop. */
export interface SendingProblem {
  readonly reason: Extract<WebhookPauseReason, 'damaged' | 'key'>;
  readonly text: string;
}

export interface DeliveriesDependencies {
  readonly states: Repository<WebhookState>;
  readonly keys: Pick<Repository<ApiKey>, 'find'>;
  readonly transport: Pick<WebhookTransport, 'post'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly backoff: Backoff;
  /** Returns a random text without a full stop. */
  readonly newMessageId: () => string;
}

/**
 * Sends messages of webhooks, as Standard Webhooks 1.0.0 describes, and keeps their states, which all processes share.
 * Every method may throw an AppError `unavailable`.
 */
export class Deliveries {
  constructor(private readonly deps: DeliveriesDependencies) {}

  /** @param data the content of the message, without secrets */
  message(type: string, changes: number, data: Readonly<Record<string, unknown>>): Message {
    const madeAt = this.deps.clock.now();
    const body = JSON.stringify({ type, timestamp: new Date(madeAt).toISOString(), data });
    return { id: this.deps.newMessageId(), type, changes, body, madeAt };
  }

  /** Returns why a webhook must not send now; undefined if it may. */
  async problemOf({ fields }: Versioned<Webhook>): Promise<SendingProblem | undefined> {
    const damage = unusableReason(fields);
    if (damage !== undefined) return { reason: 'damaged', text: damage };
    const text = keyProblem(await this.deps.keys.find(fields.createdBy), fields, this.deps.clock.now());
    return text === undefined ? undefined : { reason: 'key', text };
  }

  /**
   * Sends a message to the receiver once.
   * @param signal ends it early
   */
  async send(
    { fields }: Versioned<Webhook>,
    { id, type, changes, body }: Message,
    signal?: AbortSignal,
  ): Promise<DeliveryAttempt> {
    const at = this.deps.clock.now();
    const timestamp = Math.floor(at / 1_000);
    const signatures = signingSecrets(fields, at).map((secret) => signatureOf(secret, id, timestamp, body));
    const headers = {
      'Content-Type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatures.join(' '),
    };
    const request = { client: keyPrincipalId(fields.createdBy), url: fields.url, headers, body };
    return { at, type, changes, ...(await this.deps.transport.post(request, signal)) };
  }

  async state(id: Id): Promise<WebhookState> {
    return usableState((await this.deps.states.find(id))?.fields);
  }

  /** Returns the states of these webhooks, in order. */
  async states(ids: readonly Id[]): Promise<WebhookState[]> {
    const found = await this.deps.states.findAllByUnique('id', ids);
    return found.map((record) => usableState(record?.fields));
  }

  /**
   * Changes the state of a webhook in one compare-and-write, again with the newest one if another write was faster.
   * @param change returns undefined to leave the state as it is
   * @returns undefined if the state stays as it is, or the webhook is deleted
   */
  async change(id: Id, change: (state: WebhookState) => WebhookState | undefined): Promise<WebhookState | undefined> {
    const { states, backoff } = this.deps;
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const current = await states.find(id);
      const next = change(usableState(current?.fields));
      if (!next) return undefined;
      if (await this.write(id, current, next)) return next;
      // The id belongs to the tombstone of a deleted webhook.
      if (!current && !(await states.find(id))) return undefined;
      await backoff.pause(attempt);
    }
    throw tooManyRaces();
  }

  /** Removes the state of a deleted webhook. */
  async remove(id: Id): Promise<void> {
    const current = await this.deps.states.find(id);
    if (!current) return;
    const at = timeOfDeletion(current, this.deps.clock.now());
    const [isRemoved] = await this.deps.states.removeAll([{ id, expected: current.version, at }]);
    if (!isRemoved) await this.remove(id);
  }

  /** @returns whether no other write was faster */
  private async write(id: Id, current: Versioned<WebhookState> | undefined, fields: WebhookState): Promise<boolean> {
    const { states, clock } = this.deps;
    const now = clock.now();
    const [outcome] = current
      ? await states.replaceAll([{ record: nextVersion(current, fields, now), expected: current.version }])
      : await states.insertAll([{ id, version: 1, createdAt: now, updatedAt: now, fields }]);
    if (outcome instanceof AppError) throw outcome;
    return outcome === 'replaced' || outcome === 'inserted';
  }
}

/** The HMAC-SHA256 with the bytes of the secret. Neither the id nor the time has a full stop. */
function signatureOf(secret: string, id: string, timestamp: number, body: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}
