import type { Scope } from './access.js';
import { type ApiKey, hasExpired } from './api-key.js';
import type { FieldsOf, FieldTable } from './fields.js';
import { type Instant, MAX_ID, RESOURCES, type ResourceName, type Versioned } from './record.js';
import { HTTPS_URL_RULE, NAME } from './text.js';
import { fieldCheck } from './validation.js';

/** The fields of a webhook that clients send. */
export const WEBHOOK = {
  name: {
    description: 'What receives the messages',
    kind: 'text',
    ...NAME,
    example: 'search index',
    required: true,
    indexed: true,
  },
  url: {
    description: 'Where the messages go; each address of its host must be public, or in `WEBHOOK_NETWORKS`',
    kind: 'text',
    ...HTTPS_URL_RULE,
    example: 'https://search.example.com/hooks/catalogue',
    required: true,
  },
  resources: {
    description: 'The collections whose changes it reports',
    kind: 'list',
    of: { description: 'A collection', kind: 'choice', values: RESOURCES },
    min: 1,
    max: RESOURCES.length,
    distinct: [],
    required: true,
  },
  status: {
    description: 'Whether it sends; `active` if it is left out',
    kind: 'choice',
    values: ['active', 'paused'],
  },
} as const satisfies FieldTable;

/** The fields of a webhook as they are stored. The service sets those that {@link WEBHOOK} does not have. */
export const STORED_WEBHOOK = {
  ...WEBHOOK,
  createdBy: {
    description:
      'The id of the API key that made the webhook, or last changed its `url` or `resources`; the webhook sends only while this key is valid and may read the resources',
    kind: 'integer',
    min: 1,
    max: MAX_ID,
    example: 1,
    required: true,
    indexed: true,
  },
} as const satisfies FieldTable;

export interface Webhook extends FieldsOf<typeof STORED_WEBHOOK> {
  /** The secret that signs, `whsec_` and 24 to 64 bytes in base64. Shown once. */
  readonly secret: string;
  /** Earlier secrets, which sign too until their moment. */
  readonly formerSecrets?: readonly { readonly secret: string; readonly until: Instant }[];
  /** Where its feeds begin: before every change since the webhook names the resource. */
  readonly starts: Readonly<Partial<Record<ResourceName, FeedStart>>>;
  /** Counts the changes of `url`, `resources` and `status` by clients: after each the attempts begin anew. Absent: none. */
  readonly round?: number;
}

/** The webhook as it is in a copy of its store, while the store itself may still send. */
export function asPaused(webhook: Webhook): Webhook {
  return { ...webhook, status: 'paused' };
}

const SENT_FIELDS = (['url', 'resources', 'createdBy'] as const).map(
  (name) => [name, fieldCheck(STORED_WEBHOOK[name])] as const,
);
const SECRET = /^whsec_[A-Za-z0-9+/]+=*$/;

/**
 * Returns the fields of a stored webhook without which it cannot send: they are damaged, or of a newer release, which
 * may know other collections.
 * @param fields as they are stored, of any type
 */
export function unusableFields(fields: unknown): string[] {
  const stored: Readonly<Record<string, unknown>> = { ...(fields as object) };
  const invalid: string[] = SENT_FIELDS.filter(([name, check]) => check(stored[name]).length > 0).map(([name]) => name);
  const { secret, formerSecrets = [], starts } = stored;
  if (typeof secret !== 'string' || !SECRET.test(secret)) invalid.push('secret');
  if (!Array.isArray(formerSecrets)) invalid.push('formerSecrets');
  if (!isObject(starts)) invalid.push('starts');
  return invalid;
}

/** Why a stored webhook must not send; undefined if it may. A sentence without its full stop. */
export function unusableReason(fields: unknown): string | undefined {
  const names = unusableFields(fields);
  return names.length === 0
    ? undefined
    : `It is stored with values that this release does not know: ${names.join(', ')}`;
}

/**
 * Why a webhook must not send: the key that made it is revoked, has expired, or may not read its resources.
 * @param key the one that made it; undefined if there is none any more
 * @returns undefined if it may; a sentence without its full stop
 */
export function keyProblem(
  key: Versioned<ApiKey> | undefined,
  { createdBy, resources }: Webhook,
  now: Instant,
): string | undefined {
  if (!key) return `The API key ${createdBy} that made the webhook is revoked`;
  if (hasExpired(key.fields, now)) return `The API key ${createdBy} that made the webhook has expired`;
  const missing = scopesOf(resources).filter((scope) => !key.fields.scopes.includes(scope));
  return missing.length === 0
    ? undefined
    : `The API key ${createdBy} that made the webhook lacks the scope ${missing.join(' and ')}`;
}

/** How long an earlier secret signs besides the new one. */
export const FORMER_SECRET_MS = 24 * 60 * 60_000;

/** The most earlier secrets that sign besides the new one: their header is below 1 KiB. */
const MAX_FORMER_SECRETS = 4;

/** The scopes that reading the changes of these resources needs. */
export function scopesOf(resources: readonly ResourceName[]): Scope[] {
  return resources.map((name) => `${name}:read` as const);
}

/** The webhook with a new secret. The old one signs too for 24 hours. */
export function withNewSecret(webhook: Webhook, secret: string, now: Instant): Webhook {
  const former = [{ secret: webhook.secret, until: now + FORMER_SECRET_MS }, ...validFormer(webhook, now)];
  return { ...webhook, secret, formerSecrets: former.slice(0, MAX_FORMER_SECRETS) };
}

/** The secrets that sign at this moment, the newest first. */
export function signingSecrets(webhook: Webhook, now: Instant): string[] {
  return [webhook.secret, ...validFormer(webhook, now).map(({ secret }) => secret)];
}

function validFormer({ formerSecrets = [] }: Webhook, now: Instant) {
  return formerSecrets.filter(({ until }) => until > now);
}

/** An attempt to send a message. */
export interface DeliveryAttempt {
  readonly at: Instant;
  /** Of the message. */
  readonly type: string;
  /** The number of changes in the message. */
  readonly changes: number;
  /** Of the response. */
  readonly status?: number;
  /** Why there was no response. */
  readonly error?: string;
}

/** A message that is sent, under the same id and with the same body, until the receiver takes it. */
export interface PendingMessage {
  readonly id: string;
  readonly type: string;
  readonly resource: ResourceName;
  readonly changes: number;
  readonly body: string;
  readonly madeAt: Instant;
  /** The position of the start of the resource for which it was made. */
  readonly start: string;
  /** The place in the feed behind the message. */
  readonly next: string;
}

/**
 * What the sender knows of a webhook. A record of its own under the id of the webhook, so that a delivery does not change
 * the version of the webhook.
 */
export interface WebhookState {
  /** By resource: the place in its feed. It counts only with the same start as in the webhook. */
  readonly places: Readonly<Partial<Record<ResourceName, ReadPosition>>>;
  /** Absent: there is nothing to send, or nobody has looked. */
  readonly pending?: PendingMessage;
  /** The failures of {@link pending} in this round of the webhook. */
  readonly failures?: { readonly round: number; readonly count: number; readonly nextAt: Instant };
  /** The process that sends now. Others send again if it does not report until then. */
  readonly lease?: { readonly owner: string; readonly until: Instant };
  /** The newest first. */
  readonly attempts: readonly DeliveryAttempt[];
  readonly lastDeliveryAt?: Instant;
  readonly lastError?: string;
}

export interface FeedStart {
  readonly at: string;
  /** When the feed was read up to it, or earlier. */
  readonly readAt: Instant;
}

export interface ReadPosition extends FeedStart {
  readonly start: string;
}

export const NEW_STATE: WebhookState = { places: {}, attempts: [] };

/**
 * Returns a state that can be used: a new one in the place of none and of a damaged one. Then changes are sent again.
 * @param stored of any type
 */
export function usableState(stored: unknown): WebhookState {
  const { places, attempts, pending } = { ...(stored as object) } as Partial<WebhookState>;
  const isUsable =
    isObject(places) &&
    Array.isArray(attempts) &&
    (pending === undefined || (isObject(pending) && RESOURCES.includes(pending.resource)));
  return isUsable ? (stored as WebhookState) : NEW_STATE;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** How many attempts are kept. */
const KEPT_ATTEMPTS = 20;

export function withAttempt(state: WebhookState, attempt: DeliveryAttempt): WebhookState {
  return { ...state, attempts: [attempt, ...state.attempts].slice(0, KEPT_ATTEMPTS) };
}

/** Whether the receiver has taken the message: RFC 9110 section 15.3. */
export function isAccepted({ status = 0 }: Pick<DeliveryAttempt, 'status'>): boolean {
  return status >= 200 && status <= 299;
}

/** `failing`: the newest message was not taken yet, and is sent again later. */
export type WebhookStatus = 'active' | 'failing' | 'paused';

export function statusOf(webhook: Webhook, state?: WebhookState): WebhookStatus {
  if (webhook.status === 'paused') return 'paused';
  return state && isFailing(webhook, state) ? 'failing' : 'active';
}

/** Whether its attempts have failed since they began anew. */
export function isFailing(webhook: Webhook, { failures }: WebhookState): boolean {
  return failures?.round === roundOf(webhook);
}

export function roundOf({ round = 0 }: Webhook): number {
  return round;
}
