import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Application } from '#src/composition/application.js';
import type { Service } from '#src/process/service.js';
import { type OpenStore, openStore } from '../../stores/provider.js';
import type { HttpClient, HttpResponse } from '../../support/http-client.js';
import { linksOf } from '../../support/links.js';
import { basic, requestToken } from '../../support/oauth.js';
import type { ProxiedStore } from '../../support/proxied-servers.js';
import { until } from '../../support/until.js';
import type { FaultPlan } from './fault-plan.js';

/** More than a batch of a list has. */
export const USERS = 300;
export const NDJSON = 'application/x-ndjson';
/** The operation that moves the pending changes of every table. */
export const MAINTENANCE = 'maintain the feeds';

/** What must never happen. Each is the message of a failed check. */
export const FALSE_SUCCESS = 'false success';
export const DOUBLED = 'doubled record';
export const WRONG_STATUS = 'wrong status';

/** A service whose store is behind a proxy, and the truth about its database. */
export interface Lane {
  readonly plan: FaultPlan;
  readonly proxied: ProxiedStore;
  readonly application: Application;
  readonly service: Service;
  readonly client: HttpClient;
  /** Over the same proxy. */
  readonly storage: OpenStore;
  /** Past the proxy. */
  readonly truth: OpenStore;
  /** Of records that stay. */
  readonly productId: number;
  readonly userId: number;
}

interface Play<Result> {
  act(): Promise<Result>;
  /**
   * Compares the result of `act` with the database, and repeats the request where that is safe.
   * @param result undefined if the outcome is unknown: 503, an error `unavailable`, or an export that was cut off
   */
  verify(result: Result | undefined): Promise<void>;
}

/** Prepares what a user does, or the service by itself, on records of its own. */
export type Operation = (lane: Lane) => Promise<Play<unknown>>;

/** Repeats a request until its outcome is known. */
export async function settled(act: () => Promise<HttpResponse>): Promise<HttpResponse> {
  let response = await act();
  for (let tries = 0; response.status === 503 && tries < 5; tries++) response = await act();
  return response;
}

function expectStatus({ status, text }: HttpResponse, allowed: number): void {
  expect(status, `${WRONG_STATUS}: ${text}`).to.equal(allowed);
}

/** So many records are newer than those before an operation, at most. */
const NEWEST = 20;

type Created = 'products' | 'orders' | 'apiKeys';
type Fields = Readonly<Record<string, unknown>>;

/** Returns the ids of the newest records with such fields. */
const idsOf = async ({ truth }: Lane, created: Created, matches: (fields: Fields) => boolean) => {
  const order = [{ field: 'id', descending: true }];
  const { records } = await truth[created].list({ limit: NEWEST, filters: [], order });
  return records.filter(({ fields }) => matches(fields as unknown as Fields)).map(({ id }) => id);
};

const named = (name: string | undefined) => (fields: Fields) => fields['name'] === name;

/** An operation of a client. */
const request = (prepare: (lane: Lane) => Promise<Play<HttpResponse>>) => prepare as Operation;

let numbers = 0;

/** @param of the body of a creation, and whether fields are those of its record, for each unique number */
const creation = (
  path: string,
  resource: Created,
  of: (number: number, lane: Lane) => readonly [body: object, matches: (fields: Fields) => boolean],
  { hasKey = true } = {},
) =>
  request(async (lane) => {
    const [body, matches] = of(++numbers, lane);
    const headers: Record<string, string> = hasKey ? { 'Idempotency-Key': randomUUID() } : {};
    const act = () => lane.client.post(path, body, { headers });
    const created = () => idsOf(lane, resource, matches);
    return {
      act,
      verify: async (response) => {
        const found = await created();
        expect(found.length, DOUBLED).to.be.at.most(1);
        if (response) {
          expectStatus(response, 201);
          expect(found, FALSE_SUCCESS).to.deep.equal([response.json.id]);
        }
        if (!hasKey) return;
        const again = await settled(act);
        expectStatus(again, 201);
        expect(await created(), DOUBLED).to.deep.equal([again.json.id]);
        if (response) expect(again.json.id).to.equal(response.json.id);
      },
    };
  });

const edit = (method: 'PUT' | 'PATCH') =>
  request(async (lane) => {
    const { id } = (await settled(() => lane.client.post('/products', { name: 'old' }))).json;
    const name = randomUUID();
    const act = () =>
      lane.client.request(method, `/products/${id}`, { body: { name }, headers: { 'If-Match': '"1"' } });
    const isDone = async () => {
      const found = await lane.truth.products.find(id);
      return found?.fields.name === name && found.version === 2;
    };
    return {
      act,
      verify: async (response) => {
        const wasDone = await isDone();
        if (response) {
          expectStatus(response, 200);
          expect(wasDone, FALSE_SUCCESS).to.equal(true);
        }
        expectStatus(await settled(act), wasDone ? 412 : 200);
        expect(await isDone(), DOUBLED).to.equal(true);
      },
    };
  });

const read = (path: string | ((lane: Lane) => string), headers: Record<string, string> = {}) =>
  request(async (lane) => {
    const url = typeof path === 'string' ? path : path(lane);
    const act = () => lane.client.get(url, { headers });
    const expected = await settled(act);
    expect(expected.status).to.equal(200);
    return {
      act,
      verify: async (response) => {
        if (!response) return;
        expectStatus(response, 200);
        expect(response.text, FALSE_SUCCESS).to.equal(expected.text);
        expect(response.headers['x-total-count']).to.equal(expected.headers['x-total-count']);
      },
    };
  });

/** A request whose response has one status, if it has an outcome. */
const answered = (status: number, prepare: (lane: Lane) => Promise<() => Promise<HttpResponse>>) =>
  request(async (lane) => ({
    act: await prepare(lane),
    verify: async (response) => {
      if (response) expectStatus(response, status);
    },
  }));

let addresses = 0;

/** Another address each time, since one whose authentications often fail is refused. */
const from = () => `127.1.${++addresses >> 8}.${addresses & 255}`;

const withToken = ({ client, productId }: Lane, token: string) =>
  client.get(`/products/${productId}`, { token, from: from() });

const newKey = async ({ client }: Lane): Promise<{ id: number; key: string }> =>
  (await settled(() => client.post('/api-keys', { name: 'x', scopes: ['products:read'] }))).json;

const PREPARE: Operation = async ({ proxied }) => {
  const { dropIndex, hasIndex } = proxied.index as NonNullable<ProxiedStore['index']>;
  const open = async () => (await openStore(proxied.settings)).close();
  await dropIndex();
  return {
    act: async () => {
      await open();
      return 'open';
    },
    verify: async (result) => {
      if (result) expect(await hasIndex(), FALSE_SUCCESS).to.equal(true);
      else await open();
      expect(await hasIndex()).to.equal(true);
    },
  };
};

/** Some changes of the feed of products, none of which is moved into the log of a store that has one. */
interface NewChanges {
  /** The path of the page that they begin. */
  readonly path: string;
  /** Checks a page, if there is one, and those that follow it. None misses one of the changes or has it again. */
  expectOnce(first?: HttpResponse): Promise<void>;
}

async function newChanges({ client }: Lane): Promise<NewChanges> {
  const nextOf = ({ headers }: HttpResponse) => linksOf(headers['link'])['next'] ?? '';
  const get = (path: string) => settled(() => client.get(path));
  const path = nextOf(await get('/products/changes'));
  const expected = new Map<unknown, unknown>();
  for (const act of [undefined, 'PATCH', 'DELETE']) {
    const { id } = (await settled(() => client.post('/products', { name: 'old' }))).json;
    if (act) await settled(() => client.request(act, `/products/${id}`, { body: { name: 'new' } }));
    expected.set(id, { version: act ? 2 : 1, deleted: act === 'DELETE' });
  }
  return {
    path,
    expectOnce: async (first) => {
      const shown: [unknown, unknown][] = [];
      let page = first ?? (await get(path));
      // A store may show a change some time after its response, and earlier ones again.
      await until('the feed shows the changes', async () => {
        expectStatus(page, 200);
        const entries: Fields[] = page.json;
        for (const { id, version, deleted = false } of entries)
          if (expected.has(id)) shown.push([id, { version, deleted }]);
        page = await get(nextOf(page));
        return shown.length > expected.size || (shown.length === expected.size && entries.length === 0);
      });
      expect(shown, DOUBLED).to.have.deep.members([...expected]);
    },
  };
}

const MAINTAIN: Operation = async (lane) => {
  const { expectOnce } = await newChanges(lane);
  return {
    act: async () => {
      await lane.application.feedState.maintain?.(Date.now());
      return 'maintained';
    },
    verify: () => expectOnce(),
  };
};

/** Returns what a server may be asked for. */
export function operationsOn({ proxied: { index }, application }: Lane): Readonly<Record<string, Operation>> {
  // First, because they have most replies.
  return {
    ...(index && { 'prepare the indexes': PREPARE }),
    ...(application.feedState.maintain && { [MAINTENANCE]: MAINTAIN }),
    ...OPERATIONS,
  };
}

const OPERATIONS: Readonly<Record<string, Operation>> = {
  POST: creation('/products', 'products', (n) => [{ name: `${n}` }, named(`${n}`)], { hasKey: false }),
  'POST with a key': creation('/products', 'products', (n) => [{ name: `${n}`, sku: `S-${n}` }, named(`${n}`)]),
  'POST of an order with a key': creation('/orders', 'orders', (n, { userId, productId }) => [
    { userId, items: [{ productId, quantity: n }] },
    ({ items }) => (items as { quantity: number }[])[0]?.quantity === n,
  ]),
  'POST of an API key': creation('/api-keys', 'apiKeys', (n) => [
    { name: `${n}`, scopes: ['products:read'] },
    named(`${n}`),
  ]),
  'POST again': request(async (lane) => {
    const name = randomUUID();
    const act = () => lane.client.post('/products', { name }, { headers: { 'Idempotency-Key': name } });
    const { id } = (await settled(act)).json;
    return {
      act,
      verify: async (response) => {
        if (response) expectStatus(response, 201);
        if (response) expect(response.json.id).to.equal(id);
        expect(await idsOf(lane, 'products', named(name)), DOUBLED).to.deep.equal([id]);
      },
    };
  }),
  'POST of a used SKU': answered(409, async ({ client }) => {
    const act = () => client.post('/products', { name: 'x', sku: 'used' });
    await settled(act);
    return act;
  }),
  PUT: edit('PUT'),
  PATCH: edit('PATCH'),
  DELETE: request(async (lane) => {
    const { id } = (await settled(() => lane.client.post('/products', { name: 'gone' }))).json;
    const act = () => lane.client.delete(`/products/${id}`);
    return {
      act,
      verify: async (response) => {
        const isLive = (await lane.truth.products.find(id)) !== undefined;
        if (response) {
          expectStatus(response, 204);
          expect(isLive, FALSE_SUCCESS).to.equal(false);
        }
        expectStatus(await settled(act), isLive ? 204 : 404);
        expect((await lane.client.get(`/products/${id}`)).status).to.equal(404);
      },
    };
  }),
  'import with a key': request(async (lane) => {
    const names = Array.from({ length: 5 }, () => randomUUID());
    const body = names.map((name) => JSON.stringify({ name })).join('\n');
    const headers = { 'Content-Type': NDJSON, 'Idempotency-Key': randomUUID() };
    const act = () => lane.client.post('/products/imports', body, { headers });
    const created = (name: string | undefined) => idsOf(lane, 'products', named(name));
    return {
      act,
      verify: async (response) => {
        if (response) {
          expectStatus(response, 200);
          for (const [at, line] of response.text.trim().split('\n').entries()) {
            const { status, id } = JSON.parse(line);
            expect(status, `${WRONG_STATUS}: ${line}`).to.be.oneOf([201, 503]);
            if (status === 201) expect(await created(names[at]), FALSE_SUCCESS).to.deep.equal([id]);
          }
        }
        const again = await settled(act);
        expect(again.text.match(/"status": ?201/g)?.length, again.text).to.equal(names.length);
        for (const name of names) expect((await created(name)).length, DOUBLED).to.equal(1);
      },
    };
  }),
  'revocation of an API key': request(async (lane) => {
    const { id, key } = await newKey(lane);
    const act = () => lane.client.delete(`/api-keys/${id}`);
    const used = async () => (await withToken(lane, key)).status;
    return {
      act,
      verify: async (response) => {
        if (response) {
          expectStatus(response, 204);
          expect(await used(), FALSE_SUCCESS).to.equal(401);
        }
        expect((await settled(act)).status).to.be.oneOf(response ? [404] : [204, 404]);
        expect(await used()).to.equal(401);
      },
    };
  }),
  'first use of an API key': answered(200, async (lane) => {
    const { key } = await newKey(lane);
    return () => withToken(lane, key);
  }),
  'use of a revoked API key': answered(401, async (lane) => {
    const { id, key } = await newKey(lane);
    await settled(() => lane.client.delete(`/api-keys/${id}`));
    return () => withToken(lane, key);
  }),
  'exchange of an API key for a token': request(async (lane) => {
    const { id, key } = await newKey(lane);
    return {
      act: () =>
        requestToken(lane.client, 'grant_type=client_credentials', {
          headers: basic(`${id}`, key),
          from: from(),
        }),
      verify: async (response) => {
        if (!response) return;
        expectStatus(response, 200);
        const token = response.json.access_token;
        expect((await withToken(lane, token)).status).to.equal(200);
      },
    };
  }),
  'GET of one': read(({ userId }) => `/users/${userId}`),
  'list of two batches': read('/users?limit=280'),
  search: read('/users?q=user&limit=10'),
  'query without an index': read('/users?name.ne=User+5&sort=email&limit=10'),
  count: read('/users?limit=1', { Prefer: 'count=exact' }),
  export: read('/users?fields=id,name', { Accept: NDJSON }),
  'page of changes': request(async (lane) => {
    const { path, expectOnce } = await newChanges(lane);
    return { act: () => lane.client.get(path), verify: expectOnce };
  }),
  'reserve ids': async ({ storage }) => {
    const before = await storage.products.reserveIds(1);
    return {
      act: () => storage.products.reserveIds(32),
      verify: async (first) => {
        const after = await storage.products.reserveIds(1);
        expect(after, DOUBLED).to.be.at.least(first === undefined ? before + 1 : (first as number) + 32);
        if (first !== undefined) expect(first, DOUBLED).to.be.greaterThan(before);
      },
    };
  },
  'save usage': async ({ client, application, truth, productId }) => {
    const { usageCounter } = application;
    const total = async () => {
      const counts = await truth.usage.find([1], 0);
      return counts.flatMap(({ routes }) => routes).reduce((sum, { requests }) => sum + requests, 0);
    };
    await usageCounter.save();
    const before = await total();
    for (let turn = 0; turn < 3; turn++) await client.get(`/products/${productId}`);
    return {
      act: async () => {
        await usageCounter.save();
        return 'saved';
      },
      verify: async (result) => {
        if (result) expect(await total(), FALSE_SUCCESS).to.be.at.least(before + 3);
        await usageCounter.save();
        // One more: the request after the fault.
        expect(await total(), DOUBLED).to.equal(before + 4);
      },
    };
  },
  'make derived data': async ({ storage, proxied, userId }) => {
    const users = storage.derived?.tables.find(({ name }) => name === 'users');
    if (!users) throw new Error('no derived data');
    const before = await proxied.derivedOf(userId);
    await proxied.forgetDerived(userId);
    return {
      act: () => users.deriveNext(),
      verify: async (result) => {
        if (result !== undefined) expect(await proxied.derivedOf(userId), FALSE_SUCCESS).to.deep.equal(before);
        while (await users.isStale()) await users.deriveNext();
        expect(await proxied.derivedOf(userId)).to.deep.equal(before);
      },
    };
  },
  'archive of two batches': async ({ storage }) => {
    const archive = storage.archives.records.find(({ name }) => name === 'users');
    if (!archive) throw new Error('no archive');
    const expected = await archive.read(0, USERS);
    return {
      act: () => archive.read(0, USERS),
      verify: async (entries) => {
        if (entries) expect(entries, FALSE_SUCCESS).to.deep.equal(expected);
      },
    };
  },
};
