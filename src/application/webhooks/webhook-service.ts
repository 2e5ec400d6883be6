import { isDeepStrictEqual } from 'node:util';
import { InsufficientScope, insufficientScope, type Principal } from '../../domain/access.js';
import { type ApiKey, keyIdOf, validKey } from '../../domain/api-key.js';
import { fieldIssue, PreconditionFailed, unavailable } from '../../domain/errors.js';
import type { Id, ResourceName, Versioned } from '../../domain/record.js';
import {
  type DeliveryAttempt,
  roundOf,
  scopesOf,
  type Webhook,
  type WebhookState,
  withAttempt,
  withNewSecret,
} from '../../domain/webhook.js';
import { FairSemaphore } from '../../shared/fair-semaphore.js';
import { isJsonObject } from '../../shared/json.js';
import type { Task } from '../../shared/task-scheduler.js';
import type { ChangeFeed } from '../ports/change-feed.js';
import type { Clock } from '../ports/clock.js';
import type { ListPage, ListQuery } from '../ports/list-query.js';
import type { Repository } from '../ports/repository.js';
import type { TargetProblem, WebhookTransport } from '../ports/webhooks.js';
import type { Change, ReferenceValidator } from '../records/record-format.js';
import type { Creation, RecordService } from '../records/record-service.js';
import type { Precondition } from '../records/write-conditions.js';
import type { Deliveries } from './deliveries.js';

/** A webhook with its state, which is not part of the record, and with what one response alone shows. */
export interface ShownWebhook extends Webhook {
  /** Absent: new. */
  readonly state?: WebhookState;
  /** A secret that was just made. */
  readonly newSecret?: string;
}

export interface WebhookServiceDependencies {
  /** The webhooks as records. Their rules include {@link targetRule} for this client. */
  readonly webhooksFor: (client: string) => RecordService<Webhook>;
  readonly deliveries: Deliveries;
  readonly keys: Pick<Repository<ApiKey>, 'find'>;
  readonly feeds: Readonly<Record<ResourceName, Pick<ChangeFeed<unknown>, 'end'>>>;
  /** Returns 24 to 64 random bytes in base64 behind `whsec_`. */
  readonly newSecret: () => string;
  readonly clock: Clock;
  /** Called after each change. */
  readonly onChange: () => void;
}

/** Tests under way in this process. Each takes at most 20 seconds. */
const TESTS = { total: 16, perClient: 2, maxWaiting: 10, patienceMs: 10_000 };

/** Administers webhooks. What they send is the sender's part. */
export class WebhookService {
  /** The webhooks as records. */
  readonly webhooks: RecordService<Webhook>;
  private readonly tests = new FairSemaphore(TESTS);

  constructor(private readonly deps: WebhookServiceDependencies) {
    this.webhooks = deps.webhooksFor('');
  }

  async list(query: ListQuery): Promise<ListPage<Versioned<ShownWebhook>>> {
    const { records, hasMore } = await this.webhooks.list(query);
    return { records: await this.withStates(records), hasMore };
  }

  async *pages(query: ListQuery): AsyncGenerator<readonly Versioned<ShownWebhook>[], void, void> {
    for await (const page of this.webhooks.pages(query)) yield await this.withStates(page);
  }

  /** @throws AppError `unavailable`, `query_too_expensive` */
  count(filters: ListQuery['filters'], task?: Task): Promise<number> {
    return this.webhooks.count(filters, task);
  }

  /** @throws AppError `not_found`, `unavailable` */
  async read(id: Id): Promise<Versioned<ShownWebhook>> {
    return this.withState(await this.webhooks.read(id));
  }

  /**
   * Creates a webhook for a principal, who may read its resources.
   * @throws AppError `validation_failed`, `insufficient_scope`, `idempotency_key_reused`; `invalid_token` and
   *   `token_expired` if the key of the principal has ended
   */
  async createFor(
    maker: Principal | undefined,
    { draft, idempotency }: Creation<Webhook>,
  ): Promise<{ readonly record: Versioned<ShownWebhook>; readonly isReplay: boolean }> {
    const { newSecret, onChange } = this.deps;
    const { resources = [] } = draft.fields as Webhook;
    const owned = draft.issues.length === 0 ? await this.ownership(maker, resources, {}) : {};
    const secret = newSecret();
    const { record, isReplay } = await this.webhooksOf(maker).create({
      draft: { ...draft, fields: { ...draft.fields, ...owned, secret } },
      // The fields of the body are the response. Stored ones would contain a secret.
      idempotency: idempotency && { ...idempotency, storesFields: false },
    });
    if (isReplay) return { record, isReplay };
    onChange();
    return { record: withSecret(record, secret), isReplay };
  }

  /**
   * Changes a webhook. A change that names its URL or its resources makes the principal its owner, even with the values
   * of before, who must be able to read these resources; another URL has a secret of its own.
   * @throws AppError as {@link createFor} and `RecordService.update`
   */
  async updateFor(
    changer: Principal | undefined,
    id: Id,
    precondition: Precondition,
    change: Change,
  ): Promise<Versioned<ShownWebhook>> {
    const { newSecret } = this.deps;
    return this.update(this.webhooksOf(changer), id, precondition, change, async (fields, { fields: current }) => {
      const isNamed = namesTarget(change);
      if (isNamed) requireReading(changer, fields);
      const isElsewhere = fields.url !== current.url;
      const hasOtherResources = !isDeepStrictEqual(fields.resources, current.resources);
      const isTakenOver = isNamed && changer && keyIdOf(changer) !== current.createdBy;
      const needsOwner = isElsewhere || hasOtherResources || isTakenOver;
      if (!needsOwner && fields.status === current.status) return fields;
      const anew = { ...fields, round: roundOf(current) + 1 };
      if (!needsOwner) return anew;
      const owned = {
        ...anew,
        ...(await this.ownership(changer, fields.resources, current.starts)),
      };
      if (!isElsewhere) return owned;
      const { formerSecrets: _ofTheOtherUrl, ...rest } = owned;
      return { ...rest, secret: newSecret() };
    });
  }

  /**
   * Makes a new secret for a principal, who may read the resources. The old one signs too for 24 hours.
   * @throws AppError `not_found`, `insufficient_scope`, `precondition_failed`, `unavailable`
   */
  async renewSecretFor(
    renewer: Principal | undefined,
    id: Id,
    precondition: Precondition,
  ): Promise<Versioned<ShownWebhook>> {
    const { newSecret, clock } = this.deps;
    const { fields: found } = await this.webhooks.read(id);
    // Before the precondition is judged. The validation of the change refuses a damaged one.
    if (Array.isArray(found.resources)) requireReading(renewer, found);
    const unchanged: Change = { kind: 'merge-patch', body: {} };
    return this.update(this.webhooks, id, precondition, unchanged, async (fields) => {
      requireReading(renewer, fields);
      return withNewSecret(fields, newSecret(), clock.now());
    });
  }

  /** @throws AppError `not_found`, `precondition_failed`, `unavailable` */
  async remove(id: Id, precondition: Precondition): Promise<void> {
    await this.showingState(() => this.webhooks.remove(id, precondition));
    await this.deps.deliveries.remove(id);
    this.deps.onChange();
  }

  /**
   * Returns the last attempts, the newest first.
   * @throws AppError `not_found`, `unavailable`
   */
  async attempts(id: Id): Promise<readonly DeliveryAttempt[]> {
    await this.webhooks.read(id);
    return (await this.deps.deliveries.state(id)).attempts;
  }

  /**
   * Sends a message without changes, with those that the sender sends, unless the key of the webhook has ended.
   * @param client whose tests these are
   * @throws AppError `not_found`, `unavailable`
   */
  async test(client: string, id: Id): Promise<DeliveryAttempt> {
    const { deliveries } = this.deps;
    const webhook = await this.webhooks.read(id);
    const permit = await this.tests.acquire(client);
    if (!permit) throw unavailable('Too many tests of webhooks are under way. Try again later.');
    try {
      const message = deliveries.message('webhook.test', 0, {});
      const { madeAt: at, type, changes } = message;
      const problem = await deliveries.problemOf(webhook);
      const attempt = problem ? { at, type, changes, error: problem.text } : await deliveries.send(webhook, message);
      await deliveries.change(id, (state) => withAttempt(state, attempt));
      return attempt;
    } finally {
      permit.release();
    }
  }

  private webhooksOf(principal: Principal | undefined): RecordService<Webhook> {
    return principal ? this.deps.webhooksFor(principal.id) : this.webhooks;
  }

  private async update(
    webhooks: RecordService<Webhook>,
    id: Id,
    precondition: Precondition,
    change: Change,
    complete: (fields: Webhook, current: Versioned<Webhook>) => Promise<Webhook>,
  ): Promise<Versioned<ShownWebhook>> {
    let former: string | undefined;
    const record = await this.showingState(() =>
      webhooks.update(id, precondition, change, (fields, current) => {
        former = current.fields.secret;
        return complete(fields, current);
      }),
    );
    this.deps.onChange();
    const shown = await this.withState(record);
    const { secret } = record.fields;
    return former === undefined || former === secret ? shown : withSecret(shown, secret);
  }

  /** The failed precondition of a write has the state of the webhook, as its entity tag does. */
  private async showingState<Result>(write: () => Promise<Result>): Promise<Result> {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof PreconditionFailed)) throw error;
      throw new PreconditionFailed(await this.withState(error.current as Versioned<Webhook>));
    }
  }

  private async ownership(
    principal: Principal | undefined,
    resources: readonly ResourceName[],
    known: Webhook['starts'],
  ): Promise<Pick<Webhook, 'createdBy' | 'starts'>> {
    const { keys, clock, feeds } = this.deps;
    requireReading(principal, { resources });
    const createdBy = principal && keyIdOf(principal);
    if (createdBy === undefined) throw needsKey();
    validKey(await keys.find(createdBy), clock.now());
    const readAt = clock.now();
    const starts = resources.map(
      async (name) => [name, known[name] ?? { at: await feeds[name].end(), readAt }] as const,
    );
    return { createdBy, starts: Object.fromEntries(await Promise.all(starts)) };
  }

  private async withState(webhook: Versioned<Webhook>): Promise<Versioned<ShownWebhook>> {
    const [shown] = await this.withStates([webhook]);
    return shown ?? webhook;
  }

  private async withStates(webhooks: readonly Versioned<Webhook>[]): Promise<Versioned<ShownWebhook>[]> {
    if (webhooks.length === 0) return [];
    const states = await this.deps.deliveries.states(webhooks.map(({ id }) => id));
    return webhooks.map((webhook, at) => {
      const state = states[at];
      return state ? { ...webhook, fields: { ...webhook.fields, state } } : webhook;
    });
  }
}

/** Whether a change names the URL or the resources. */
function namesTarget({ kind, body }: Change): boolean {
  const names = ['url', 'resources'];
  if (kind !== 'json-patch') return isJsonObject(body) && names.some((name) => name in body);
  const operations = body as readonly { readonly op?: unknown; readonly path?: unknown }[];
  return operations.some(({ op, path }) => op !== 'test' && names.includes(`${path}`.split('/')[1] ?? ''));
}

function withSecret(webhook: Versioned<ShownWebhook>, newSecret: string): Versioned<ShownWebhook> {
  return { ...webhook, fields: { ...webhook.fields, newSecret } };
}

/** @throws AppError `insufficient_scope` */
function requireReading(principal: Principal | undefined, { resources }: Pick<Webhook, 'resources'>): void {
  const denied = insufficientScope(principal, scopesOf(resources));
  if (denied) throw denied;
}

function needsKey(): InsufficientScope {
  const message = 'A webhook belongs to an API key: send a key, or an access token that this service issued for one.';
  return new InsufficientScope(['webhooks:admin'], message);
}

const TARGET_RULES: Readonly<Record<TargetProblem, string>> = {
  port: 'must have a port from 1 to 65535, such as https://search.example.com:8443/hook',
  unknown: 'must name a host that has an address: the service finds none by its hosts file and by DNS',
  address: 'must name a host all of whose addresses are public, or in WEBHOOK_NETWORKS, such as 10.20.0.0/16',
};

/**
 * The rule that a new URL must name a host that the service may connect to.
 * @param client see {@link WebhookTransport.problemOf}
 */
export function targetRule(
  transport: Pick<WebhookTransport, 'problemOf'>,
  client: string,
): ReferenceValidator<Webhook> {
  return (candidates) =>
    Promise.all(
      candidates.map(async ({ draft, previous }) => {
        const { url } = draft.fields;
        const isWrong = draft.issues.some(({ pointer }) => pointer === '/url');
        if (typeof url !== 'string' || isWrong || url === previous?.fields.url) return [];
        const problem = await transport.problemOf(url, client);
        return problem ? [fieldIssue('invalid_format', ['url'], TARGET_RULES[problem])] : [];
      }),
    );
}

/** The rule that a webhook sends unless it is paused. */
export function withStatus(fields: Webhook): Webhook {
  return { ...fields, status: fields.status ?? 'active' };
}
