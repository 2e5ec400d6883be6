import { setMaxListeners } from 'node:events';
import { expect } from 'chai';
import { memoryStorage } from '#src/adapters/outbound/memory/storage.js';
import { ChangeWatch } from '#src/application/changes/change-watch.js';
import type { WebhookRequest, WebhookTransport } from '#src/application/ports/webhooks.js';
import { StoredRecord } from '#src/application/records/record-json.js';
import { Deliveries } from '#src/application/webhooks/deliveries.js';
import { WebhookSender } from '#src/application/webhooks/webhook-sender.js';
import { storageOf } from '#src/composition/storage.js';
import { SCOPES, type Scope } from '#src/domain/access.js';
import { unavailable } from '#src/domain/errors.js';
import { type Id, RESOURCES, type ResourceName, type Versioned } from '#src/domain/record.js';
import type { FeedStart, Webhook } from '#src/domain/webhook.js';
import { yieldToEventLoop } from '#src/shared/promises.js';
import { CountingBackoff, FakeClock, FakeTimer, RecordingLogger } from '../../../support/fakes.js';
import { ENDLESS } from '../../../support/tables.js';
import { isSigned } from '../../../support/webhook-receiver.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const FORMER = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;

type Outcome = { readonly status?: number; readonly error?: string };

/** A message that a sender has begun to send. */
class Sent {
  // biome-ignore lint/suspicious/noExplicitAny: tests check the body
  readonly json: any;
  answer: (outcome: Outcome) => void = () => {};

  constructor(readonly request: WebhookRequest) {
    this.json = JSON.parse(request.body);
  }

  get id(): string {
    return String(this.request.headers['webhook-id']);
  }
}

/** Answers with 204, or as a test says; holds messages if it is to. */
class FakeTransport implements WebhookTransport {
  readonly sent: Sent[] = [];
  outcome: Outcome = { status: 204 };
  isHeld = false;
  /** The URLs for which it has no look-up or connection of its own left. */
  readonly withoutPlace = new Set<string>();

  async problemOf(): Promise<undefined> {}

  post(request: WebhookRequest, signal?: AbortSignal): Promise<Outcome> {
    if (this.withoutPlace.has(request.url)) return Promise.reject(unavailable('No place.'));
    const sent = new Sent(request);
    this.sent.push(sent);
    if (!this.isHeld) return Promise.resolve(this.outcome);
    if (signal) setMaxListeners(0, signal);
    return new Promise((resolve) => {
      sent.answer = resolve;
      signal?.addEventListener('abort', () => resolve({ error: 'cut off' }));
    });
  }
}

let timer = new FakeTimer();

/** A store in memory with its senders, whose time a test moves. */
class World {
  readonly clock = new FakeClock();
  readonly transport = new FakeTransport();
  readonly logger = new RecordingLogger();
  readonly observed: string[] = [];
  readonly storage = storageOf(memoryStorage({ budget: ENDLESS }));
  private messages = 0;
  readonly deliveries = new Deliveries({
    states: this.storage.webhookStates,
    keys: this.storage.apiKeys,
    transport: this.transport,
    clock: this.clock,
    backoff: new CountingBackoff(),
    newMessageId: () => `msg_${++this.messages}`,
  });
  private senders = 0;

  async start(): Promise<this> {
    await this.storage.feedState.turnOn();
    await this.addKey(1, SCOPES);
    return this;
  }

  sender(): WebhookSender {
    const { storage, deliveries, clock, logger } = this;
    const watches = Object.fromEntries(RESOURCES.map((name) => [name, new ChangeWatch(storage.changes[name], timer)]));
    return new WebhookSender({
      webhooks: storage.webhooks,
      deliveries,
      keys: storage.apiKeys,
      feeds: storage.changes,
      watches,
      clock,
      timer,
      logger,
      metrics: {
        increment: (counter, label?) =>
          void this.observed.push(counter === 'webhook_pauses_total' ? `paused: ${label}` : `${label}`),
      },
      owner: `sender ${++this.senders}`,
      addressOf: (resource, position) => `/v1/${resource}/changes?cursor=${position}`,
    });
  }

  private newRecord<Fields>(id: Id, fields: Fields): Versioned<Fields> {
    const now = this.clock.now();
    return { id, version: 1, createdAt: now, updatedAt: now, fields };
  }

  async addKey(id: Id, scopes: readonly Scope[], expiresAt?: number): Promise<void> {
    const fields = { name: 'x', scopes, digest: String(id), ...(expiresAt !== undefined && { expiresAt }) };
    await this.storage.apiKeys.insertAll([this.newRecord(id, fields)]);
  }

  async addWebhook(fields: Partial<Webhook> = {}): Promise<Id> {
    const { resources = ['products'] } = fields;
    const id = await this.storage.webhooks.reserveIds(1);
    const now = this.clock.now();
    const starts: Partial<Record<ResourceName, FeedStart>> = {};
    for (const name of resources) starts[name] = { at: await this.storage.changes[name].end(), readAt: now };
    const own = { url: `https://example.com/${id}`, resources, starts };
    const others = { name: 'x', status: 'active', createdBy: 1, secret: SECRET } as const;
    await this.storage.webhooks.insertAll([this.newRecord<Webhook>(id, { ...others, ...own, ...fields })]);
    return id;
  }

  async change(id: Id, fields: Partial<Webhook>): Promise<void> {
    const current = await this.storage.webhooks.find(id);
    if (!current) throw new Error(`There is no webhook ${id}.`);
    const record = { ...current, version: current.version + 1, fields: { ...current.fields, ...fields } };
    await this.storage.webhooks.replaceAll([{ record, expected: current.version }]);
  }

  async addProducts(count: number): Promise<Id> {
    const first = await this.storage.products.reserveIds(count);
    const records = Array.from({ length: count }, (_, at) => this.newRecord(first + at, { name: 'Lamp' }));
    await this.storage.products.insertAll(records);
    return first;
  }

  async addUser(): Promise<void> {
    await this.storage.users.insertAll([this.newRecord(1, { name: 'Ann', email: 'ann@example.com' })]);
  }

  async statusOf(id: Id): Promise<string | undefined> {
    return (await this.storage.webhooks.find(id))?.fields.status;
  }

  types(): string[] {
    return this.transport.sent.map(({ json }) => json.type);
  }
}

/** Lets everything go on that waits for nothing but the event loop. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await yieldToEventLoop();
}

async function run(...senders: WebhookSender[]): Promise<void> {
  // The poll of the feeds.
  await timer.pass(250);
  for (const sender of senders) await sender.run();
  await settled();
}

describe('the sender of webhooks', () => {
  let world: World;
  let sender: WebhookSender;

  beforeEach(async () => {
    timer = new FakeTimer();
    world = await new World().start();
    sender = world.sender();
  });

  const sentIds = () => world.transport.sent.map(({ id }) => id);
  const sentUrls = () => world.transport.sent.map(({ request }) => request.url);
  /** Makes a webhook whose first message gets this outcome. */
  const sentOnce = async (outcome: Outcome, fields?: Partial<Webhook>) => {
    const id = await world.addWebhook(fields);
    await world.addProducts(1);
    world.transport.outcome = outcome;
    await run(sender);
    return id;
  };
  /** Makes a webhook whose first message is on the way. */
  const heldOnce = async (...senders: WebhookSender[]) => {
    world.transport.isHeld = true;
    const id = await world.addWebhook();
    await world.addProducts(1);
    await run(sender, ...senders);
    return id;
  };
  /** Changes the webhook so that it begins anew, with a receiver that takes messages. */
  const renew = async (id: Id, fields: Partial<Webhook>) => {
    world.transport.outcome = { status: 200 };
    await world.change(id, { ...fields, round: 1 });
    sender.wake();
    await run(sender);
  };

  it('tells the changes since the webhook was made, deletions too, and nothing else', async () => {
    await world.addProducts(1);
    const id = await world.addWebhook();
    const first = await world.addProducts(2);
    await world.storage.products.removeAll([{ id: first, expected: 1, at: world.clock.now() }]);
    await run(sender);
    const [sent, ...others] = world.transport.sent;
    expect(others).to.deep.equal([]);
    const end = await world.storage.changes.products.end();
    expect(sent?.request.body).to.equal(
      JSON.stringify({
        type: 'products.changed',
        timestamp: new Date(world.clock.now()).toISOString(),
        data: {
          changes: [
            { id: first + 1, version: 1 },
            { id: first, version: 2, deleted: true },
          ],
          next: `/v1/products/changes?cursor=${end}`,
        },
      }),
    );
    expect(sent?.request.url).to.equal(`https://example.com/${id}`);
    await run(sender);
    expect(world.transport.sent).to.have.length(1);
    const { attempts, lastDeliveryAt, lease, pending } = await world.deliveries.state(id);
    const at = world.clock.now();
    expect(attempts).to.deep.equal([{ at, type: 'products.changed', changes: 2, status: 204 }]);
    expect([lastDeliveryAt, lease, pending]).to.deep.equal([at, undefined, undefined]);
    expect(world.observed).to.deep.equal(['accepted']);
  });

  it('signs with the secret, and for a day with the one before', async () => {
    const until = world.clock.now() + HOUR_MS;
    await world.addWebhook({ formerSecrets: [{ secret: FORMER, until }] });
    await world.addProducts(1);
    await run(sender);
    world.clock.time = until;
    await world.addProducts(1);
    await run(sender);
    const [both, one] = world.transport.sent.map(({ request: { headers, body } }) => ({ headers, body }));
    if (!both || !one) throw new Error('Two messages were expected.');
    const now = (message: typeof both) => Number(message.headers['webhook-timestamp']);
    expect([isSigned(both, SECRET, now(both)), isSigned(both, FORMER, now(both))]).to.deep.equal([true, true]);
    expect([isSigned(one, SECRET, now(one)), isSigned(one, FORMER, now(one))]).to.deep.equal([true, false]);
    expect(isSigned({ ...one, body: `${one.body} ` }, SECRET, now(one))).to.equal(false);
    expect(both.headers['webhook-id']).to.match(/^msg_/);
  });

  it('sends at most 100 changes at once, one message at a time, in order', async () => {
    await world.addWebhook();
    const first = await world.addProducts(250);
    world.transport.isHeld = true;
    for (const [at, count] of [100, 100, 50].entries()) {
      await run(sender);
      expect(world.transport.sent).to.have.length(at + 1);
      expect(world.transport.sent[at]?.json.data.changes).to.have.length(count);
      world.transport.sent[at]?.answer({ status: 200 });
    }
    await run(sender);
    const ids = world.transport.sent.flatMap(({ json }) => json.data.changes.map(({ id }: { id: Id }) => id));
    expect(ids).to.deep.equal(Array.from({ length: 250 }, (_, at) => first + at));
    expect(new Set(sentIds()).size).to.equal(3);
  });

  it('sends a message again, the same, after 10 s, 1, 5, 30 min, 2 h, and then every 4 h', async () => {
    const id = await sentOnce({ status: 500 });
    const pauses = [10, 60, 300, 1_800, 7_200, 14_400, 14_400].map((seconds) => seconds * SECOND_MS);
    for (const [at, pause] of pauses.entries()) {
      await world.addProducts(1);
      world.clock.time += pause - 1;
      await run(sender);
      expect(world.transport.sent, `before pause ${at}`).to.have.length(at + 1);
      world.clock.time += 1;
      await run(sender);
      expect(world.transport.sent, `after pause ${at}`).to.have.length(at + 2);
    }
    const { sent } = world.transport;
    expect(new Set(sentIds()).size).to.equal(1);
    expect(new Set(sent.map(({ request }) => request.body)).size).to.equal(1);
    expect(new Set(sent.map(({ request }) => request.headers['webhook-timestamp'])).size).to.equal(sent.length);
    expect((await world.deliveries.state(id)).lastError).to.equal('The receiver responded with 500');
    expect(sender.lagMs).to.equal(pauses.reduce((sum, pause) => sum + pause, 0));
    world.transport.outcome = { status: 200 };
    world.clock.time += 4 * HOUR_MS;
    await run(sender);
    await run(sender);
    expect(sent.at(-1)?.json.data.changes, 'the changes meanwhile').to.have.length(7);
    const { failures, lastError } = await world.deliveries.state(id);
    expect([failures, lastError, sender.lagMs]).to.deep.equal([undefined, undefined, 0]);
  });

  it('advances only after 2xx', async () => {
    const id = await world.addWebhook();
    await world.addProducts(1);
    for (const outcome of [{ status: 199 }, { status: 300 }, { status: 404 }, { error: 'No response' }]) {
      world.transport.outcome = outcome;
      await run(sender);
      expect((await world.deliveries.state(id)).places).to.not.have.property('products');
      world.clock.time += 4 * HOUR_MS;
    }
    expect(world.observed).to.deep.equal(['rejected', 'rejected', 'rejected', 'failed']);
  });

  it('pauses after 410, and goes on with the same message when it is resumed', async () => {
    const id = await sentOnce({ status: 410 });
    expect(await world.statusOf(id)).to.equal('paused');
    expect(world.observed).to.deep.equal(['rejected', 'paused: gone']);
    expect(world.logger.events).to.deep.equal(['a webhook was paused']);
    expect((await world.deliveries.state(id)).lastError).to.equal('The receiver responded with 410');
    world.clock.time += HOUR_MS;
    await world.addProducts(1);
    await run(sender);
    expect(world.transport.sent).to.have.length(1);
    await renew(id, { status: 'active' });
    expect(sentIds()).to.deep.equal(['msg_1', 'msg_1', 'msg_2']);
  });

  it('pauses if the cursor of a message expires before the receiver takes it, and then tells to read everything', async () => {
    const id = await world.addWebhook();
    await world.addProducts(1);
    world.transport.outcome = { error: 'No response' };
    for (let hours = 0; hours <= 50; hours += 4) {
      await run(sender);
      world.clock.time += 4 * HOUR_MS;
    }
    await run(sender);
    expect(await world.statusOf(id)).to.equal('paused');
    expect(world.observed.at(-1)).to.equal('paused: expired');
    await world.addProducts(1);
    await renew(id, { status: 'active' });
    await world.addProducts(1);
    await run(sender);
    expect(world.types().slice(-2)).to.deep.equal(['products.resync', 'products.changed']);
    expect(world.transport.sent.at(-1)?.json.data.changes, 'from then on').to.have.length(1);
  });

  it('pauses a failing one whose changes are missing, and tells others to read everything', async () => {
    const [failing, idle] = [await world.addWebhook(), await world.addWebhook({ resources: ['products', 'users'] })];
    await world.addProducts(1);
    world.transport.isHeld = true;
    await run(sender);
    for (const sent of world.transport.sent)
      sent.answer({ status: sent.request.url.endsWith(`/${failing}`) ? 500 : 200 });
    await settled();
    world.transport.isHeld = false;
    await world.storage.feedState.reset();
    world.clock.time += HOUR_MS;
    for (let runs = 0; runs < 3; runs++) await run(sender);
    expect([await world.statusOf(failing), await world.statusOf(idle)]).to.deep.equal(['paused', 'active']);
    const messages = world.transport.sent.slice(2);
    expect(messages.map(({ json }) => json.type).sort()).to.deep.equal(['products.resync', 'users.resync']);
    const end = await world.storage.changes.products.end();
    const ofProducts = messages.find(({ json }) => json.type === 'products.resync');
    expect(ofProducts?.json.data).to.deep.equal({ next: `/v1/products/changes?cursor=${end}` });
  });

  for (const [title, key] of [
    ['is revoked', undefined],
    ['has expired', { scopes: SCOPES, expiresAt: 0 }],
    ['lacks a scope', { scopes: SCOPES.filter((scope) => scope !== 'orders:read') }],
  ] as const)
    it(`sends nothing if the key of the webhook ${title}, but pauses`, async () => {
      if (key) await world.addKey(2, key.scopes, 'expiresAt' in key ? key.expiresAt : undefined);
      const id = await world.addWebhook({ createdBy: 2, resources: ['products', 'orders'] });
      await world.addProducts(1);
      await run(sender);
      expect([world.transport.sent.length, await world.statusOf(id)]).to.deep.equal([0, 'paused']);
      expect(world.observed).to.deep.equal(['paused: key']);
      expect((await world.deliveries.state(id)).lastError).to.match(/^The API key 2 that made the webhook /);
    });

  it('lets one of several senders send, and another one after its lease', async () => {
    const other = world.sender();
    await heldOnce(other);
    expect(world.transport.sent, 'one sends').to.have.length(1);
    world.clock.time += 29 * SECOND_MS;
    world.clock.running += 29 * SECOND_MS;
    await run(sender, other);
    expect(world.transport.sent, 'within the lease').to.have.length(1);
    world.clock.time += SECOND_MS;
    await run(other);
    expect(sentIds(), 'the same message').to.deep.equal(['msg_1', 'msg_1']);
    await world.addProducts(1);
    // The first one is late: it has lost the lease, and must not advance.
    world.transport.sent[0]?.answer({ status: 200 });
    await settled();
    expect((await world.deliveries.state(1)).places).to.deep.equal({});
    world.transport.sent[1]?.answer({ status: 200 });
    await settled();
    expect((await world.deliveries.state(1)).places).to.have.property('products');
  });

  it('is not held up by a slow receiver of another webhook', async () => {
    const slow = await heldOnce();
    const fast = await world.addWebhook();
    sender.wake();
    await world.addProducts(150);
    await run(sender);
    world.transport.sent[1]?.answer({ status: 200 });
    await settled();
    expect(sentUrls().map((url) => Number(url.at(-1)))).to.deep.equal([slow, fast, fast]);
  });

  it('begins again with a webhook that was changed, without a pause', async () => {
    const id = await sentOnce({ status: 500 });
    await run(sender);
    expect(world.transport.sent).to.have.length(1);
    await renew(id, { url: 'https://example.com/new' });
    expect(sentIds()).to.deep.equal(['msg_1', 'msg_1']);
    expect(sentUrls()).to.deep.equal([`https://example.com/${id}`, 'https://example.com/new']);
  });

  it('tells of another resource from the change of the webhook on, and of a former one no more', async () => {
    const users = { at: await world.storage.changes.users.end(), readAt: world.clock.now() };
    const id = await sentOnce({ status: 500 });
    await renew(id, { resources: ['users'], starts: { users } });
    await world.addProducts(1);
    await run(sender);
    expect(world.transport.sent).to.have.length(1);
    await world.addUser();
    await run(sender);
    expect(world.types()).to.deep.equal(['products.changed', 'users.changed']);
  });

  it('stores the place of a webhook without changes again each hour, so that it does not expire', async () => {
    const id = await world.addWebhook({ resources: ['users'] });
    const begin = world.clock.now();
    for (const [after, readAt] of [
      [0, undefined],
      [HOUR_MS - 1, undefined],
      [HOUR_MS, begin + HOUR_MS],
      [2 * HOUR_MS - 1, begin + HOUR_MS],
      [2 * HOUR_MS, begin + 2 * HOUR_MS],
    ] as const) {
      world.clock.time = begin + after;
      await run(sender);
      expect((await world.deliveries.state(id)).places.users?.readAt, `after ${after} ms`).to.equal(readAt);
    }
    for (let hours = 3; hours <= 60; hours++) {
      world.clock.time = begin + hours * HOUR_MS;
      await run(sender);
    }
    expect(world.transport.sent).to.deep.equal([]);
  });

  it('stores the place of a feed without changes again also while another one has changes', async () => {
    await world.addWebhook({ resources: ['products', 'users'] });
    world.transport.isHeld = true;
    await world.addProducts(1);
    await run(sender);
    for (let hours = 1; hours <= 60; hours++) {
      world.clock.time += HOUR_MS;
      // There is always one more.
      await world.addProducts(1);
      world.transport.sent.at(-1)?.answer({ status: 200 });
      await settled();
    }
    expect(new Set(world.types())).to.deep.equal(new Set(['products.changed']));
    expect(world.transport.sent).to.have.length(61);
  });

  for (const [title, readsFirst] of Object.entries({ 'was never stored': false, 'was stored': true }))
    it(`tells to read everything behind a place of over 50 hours that ${title}: purged deletions are in no feed`, async () => {
      const id = await world.addWebhook();
      if (readsFirst) {
        await world.addProducts(1);
        await run(sender);
      }
      world.clock.time += 50 * HOUR_MS;
      const sentBefore = world.transport.sent.length;
      const young = world.sender();
      await run(young);
      expect(world.transport.sent, 'it is just young enough').to.have.length(sentBefore);
      world.clock.time += 50 * HOUR_MS + 1;
      // A change of the webhook makes no place younger.
      await world.change(id, { name: 'y', status: 'active', round: 1 });
      await run(world.sender());
      expect(world.types().slice(sentBefore)).to.deep.equal(['products.resync']);
    });

  it('takes a place to be as old as the message that led there, which may have waited for days', async () => {
    const madeAt = world.clock.now();
    await sentOnce({ status: 500 });
    world.clock.time += 49 * HOUR_MS;
    world.transport.outcome = { status: 200 };
    world.transport.isHeld = true;
    await run(sender);
    const stopped = sender.stop(MINUTE_MS);
    world.transport.sent[1]?.answer({ status: 200 });
    await stopped;
    world.transport.isHeld = false;
    world.clock.time = madeAt + 50 * HOUR_MS + 1;
    await run(world.sender());
    expect(world.types()).to.deep.equal(['products.changed', 'products.changed', 'products.resync']);
  });

  it('pauses when its key ends, though there is nothing to send or it waits to send again', async () => {
    for (const id of [2, 3]) await world.addKey(id, SCOPES);
    const ids = [
      await world.addWebhook({ createdBy: 2, resources: ['users'] }),
      await world.addWebhook({ createdBy: 2 }),
      await world.addWebhook({ createdBy: 3 }),
    ];
    const { apiKeys } = world.storage;
    let lookUps = 0;
    const { findAllByUnique } = apiKeys;
    apiKeys.findAllByUnique = (field, values) => {
      lookUps += values.length;
      return findAllByUnique.call(apiKeys, field, values);
    };
    await world.addProducts(1);
    world.transport.outcome = { status: 500 };
    await run(sender);
    expect(lookUps, 'one for each key').to.equal(2);
    await apiKeys.removeAll([{ id: 2, expected: 1, at: world.clock.now() }]);
    world.clock.running += 5 * SECOND_MS;
    await run(sender);
    expect(await Promise.all(ids.map((id) => world.statusOf(id)))).to.deep.equal(['paused', 'paused', 'active']);
    expect(world.observed.filter((one) => one.startsWith('paused'))).to.deep.equal(['paused: key', 'paused: key']);
    expect(world.transport.sent, 'the other one waits').to.have.length(2);
  });

  it('waits on after a change of the name alone', async () => {
    const id = await sentOnce({ status: 500 });
    await world.change(id, { name: 'y' });
    sender.wake();
    await run(sender);
    expect(world.transport.sent).to.have.length(1);
    world.clock.time += 10 * SECOND_MS;
    await run(sender);
    await run(sender);
    world.clock.time += 10 * SECOND_MS;
    await run(sender);
    expect(world.transport.sent, 'the second pause is a minute').to.have.length(2);
  });

  it('does not believe a lease and a pause that a clock has stored which was a day ahead', async () => {
    const day = 24 * HOUR_MS;
    const id = await world.addWebhook();
    await world.addProducts(1);
    world.clock.time += day;
    world.transport.isHeld = true;
    await run(sender);
    expect((await world.deliveries.state(id)).lease?.until).to.be.greaterThan(world.clock.now());
    world.clock.time -= day;
    const other = world.sender();
    world.transport.isHeld = false;
    world.transport.outcome = { status: 500 };
    world.clock.time += day;
    const failures = { round: 0, count: 6, nextAt: world.clock.now() };
    await world.deliveries.change(id, (state) => ({ ...state, failures }));
    world.clock.time -= day;
    await run(other);
    expect(world.transport.sent).to.have.length(2);
    expect((await world.deliveries.state(id)).failures?.nextAt).to.equal(world.clock.now() + 4 * HOUR_MS);
    // It has failed 7 times: the same process obeys the pause when its clock goes back.
    world.clock.time -= day;
    world.transport.outcome = { status: 200 };
    await run(other);
    expect(world.transport.sent).to.have.length(3);
  });

  it('sends at most 8 messages at once for the webhooks of a key, and 32 in all', async () => {
    const keys = [1, 2, 3, 4, 5, 6];
    for (const id of keys.slice(1)) await world.addKey(id, SCOPES);
    const maker = new Map<string, number>();
    for (const createdBy of keys)
      for (let n = 0; n < (createdBy === 1 ? 40 : 8); n++)
        maker.set(`https://example.com/${await world.addWebhook({ createdBy })}`, createdBy);
    world.transport.isHeld = true;
    await world.addProducts(1);
    await run(sender);
    const sentBy = () => keys.map((key) => sentUrls().filter((url) => maker.get(url) === key).length);
    expect(sentBy()).to.deep.equal([8, 8, 8, 8, 0, 0]);
    // The keys take turns, though the first one has waited longer.
    for (const sent of world.transport.sent.slice(0, 8)) sent.answer({ status: 200 });
    await settled();
    expect(world.transport.sent).to.have.length(40);
    expect(Math.min(...sentBy())).to.be.greaterThan(1);
    await Promise.all([sender.stop(1), timer.pass(1)]);
    expect(world.transport.sent, 'those that wait begin no more').to.have.length(40);
  });

  it('reads the webhooks in a twentieth of its time, however many there are', async () => {
    const { webhooks } = world.storage;
    const { list } = webhooks;
    const reloads: number[] = [];
    webhooks.list = (query) => {
      reloads.push(world.clock.running);
      world.clock.running += SECOND_MS;
      return list.call(webhooks, query);
    };
    for (let second = 0; second < 60; second++) {
      await run(sender);
      sender.wake();
      world.clock.running += SECOND_MS;
    }
    const [first = 0, ...others] = reloads;
    expect(others.slice(0, 2)).to.deep.equal([first + 20 * SECOND_MS, first + 40 * SECOND_MS]);
  });

  it('sends again within 10 s what it had no place for itself, which is no failure of the receiver', async () => {
    const id = await world.addWebhook();
    const url = `https://example.com/${id}`;
    await world.addProducts(1);
    world.transport.withoutPlace.add(url);
    for (let hours = 0; hours < 60; hours++) {
      await run(sender, world.sender());
      const { attempts, failures, lease, lastError } = await world.deliveries.state(id);
      expect([attempts, failures, lease, lastError]).to.deep.equal([[], undefined, undefined, undefined]);
      world.clock.time += HOUR_MS;
    }
    expect([await world.statusOf(id), world.observed]).to.deep.equal(['active', []]);
    await run(sender);
    world.transport.withoutPlace.delete(url);
    world.clock.time += 10 * SECOND_MS;
    await run(sender);
    expect(world.transport.sent).to.have.length(1);
    expect((await world.deliveries.state(id)).attempts).to.have.length(1);
  });

  it('stays failing, and waits no longer, if it has no place for what a receiver has refused', async () => {
    const id = await sentOnce({ status: 500 });
    const { failures } = await world.deliveries.state(id);
    world.transport.withoutPlace.add(`https://example.com/${id}`);
    world.clock.time += 10 * SECOND_MS;
    await run(sender);
    expect((await world.deliveries.state(id)).failures).to.deep.equal(failures);
    world.transport.withoutPlace.clear();
    world.clock.time += 10 * SECOND_MS;
    await run(sender);
    expect(world.transport.sent).to.have.length(2);
    expect((await world.deliveries.state(id)).failures?.count).to.equal(2);
  });

  for (const [title, fields] of [
    ['of a collection that this release does not know', { resources: ['products', 'baskets'] }],
    ['without resources', { resources: undefined }],
    ['without a secret', { secret: undefined }],
    ['without anything', { url: 1, resources: null, createdBy: 'x', starts: 'x' }],
  ] as const)
    it(`pauses one that is stored ${title}, and sends those of all others`, async () => {
      const damaged = await world.addWebhook();
      await world.change(damaged, fields as object);
      await world.addWebhook();
      await world.addProducts(1);
      await run(sender);
      expect(sentUrls()).to.deep.equal(['https://example.com/2']);
      expect(await world.statusOf(damaged)).to.equal('paused');
      expect(world.observed).to.have.members(['paused: damaged', 'accepted']);
      expect((await world.deliveries.state(damaged)).lastError).to.match(/^It is stored with values /);
      await run(sender);
      expect(world.logger.events).to.deep.equal(['a webhook was paused']);
    });

  it('leaves out one that cannot be read at all, and one whose key cannot', async () => {
    const [unreadable, keyless] = [await world.addWebhook(), await world.addWebhook({ createdBy: 2 })];
    await world.addKey(2, undefined as never);
    await world.addWebhook();
    const { webhooks } = world.storage;
    const { list } = webhooks;
    webhooks.list = async (query) => {
      const page = await list.call(webhooks, query);
      const records = page.records.map((record) => {
        if (record.id !== unreadable) return record;
        const { id, version, createdAt, updatedAt } = record;
        return StoredRecord.fromJson<Webhook>(id, version, createdAt, updatedAt, '{"url":');
      });
      return { ...page, records };
    };
    await world.addProducts(1);
    await sender.run().catch(() => undefined);
    await settled();
    world.clock.running += 5 * SECOND_MS;
    await sender.run().catch(() => undefined);
    await settled();
    expect(sentUrls()).to.deep.equal(['https://example.com/3']);
    expect(world.logger.events).to.deep.equal(['a webhook cannot be read, and sends nothing']);
    expect(await world.statusOf(keyless)).to.equal('active');
  });

  it('sends of one collection while the feed of another one fails', async () => {
    await world.addWebhook({ resources: ['users'] });
    await world.addWebhook();
    await world.addProducts(1);
    const { users } = world.storage.changes;
    users.end = () => Promise.reject(unavailable('The feed fails.'));
    const error = await sender.run().catch((reason: Error) => reason);
    await settled();
    expect(error).to.be.an('error').with.property('message', 'The feed fails.');
    expect(world.types()).to.deep.equal(['products.changed']);
  });

  it('goes on after an error of the store', async () => {
    await world.addWebhook();
    await world.addProducts(1);
    const { find } = world.storage.webhooks;
    world.storage.webhooks.find = () => {
      world.storage.webhooks.find = find;
      throw new Error('the store fails');
    };
    const error = await sender.run().catch((reason: Error) => reason);
    expect(error).to.be.an('error').with.property('message', 'the store fails');
    world.clock.time += SECOND_MS;
    await run(sender);
    expect(world.transport.sent).to.have.length(1);
  });

  it('finishes when it stops what it has begun, or gives it back to the others', async () => {
    await heldOnce();
    await Promise.all([sender.stop(1), timer.pass(1)]);
    const { lease, attempts, pending } = await world.deliveries.state(1);
    expect([lease, attempts, pending?.id]).to.deep.equal([undefined, [], 'msg_1']);
    world.transport.isHeld = false;
    await run(sender);
    expect(world.transport.sent, 'it begins nothing more').to.have.length(1);
    await run(world.sender());
    expect(sentIds()).to.deep.equal(['msg_1', 'msg_1']);
  });

  it('sends nothing of a paused or deleted webhook', async () => {
    const paused = await world.addWebhook({ status: 'paused' });
    const deleted = await world.addWebhook();
    await run(sender);
    await world.storage.webhooks.removeAll([{ id: deleted, expected: 1, at: world.clock.now() }]);
    await world.addProducts(1);
    await run(sender);
    expect(world.transport.sent).to.deep.equal([]);
    await world.change(paused, { status: 'active' });
    sender.wake();
    await run(sender);
    expect(world.transport.sent).to.have.length(1);
  });
});
