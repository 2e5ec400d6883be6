import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Db, Document } from 'mongodb';
import type { Application } from '#src/composition/container.js';
import type { Storage } from '#src/composition/storage.js';
import type { Service } from '#src/process/service.js';
import type { HttpClient, HttpResponse } from '../../support/http-client.js';
import type { MongoProxy } from '../../support/mongo-proxy.js';
import { basic, requestToken } from '../../support/oauth.js';
import type { FaultPlan } from './fault-plan.js';

/** More than a batch of a list has. */
export const USERS = 300;
export const NDJSON = 'application/x-ndjson';

/** What must never happen. Each is the message of a failed check. */
export const FALSE_SUCCESS = 'false success';
export const DOUBLED = 'doubled record';
export const WRONG_STATUS = 'wrong status';

/** A service whose store is behind a proxy, and the truth about its database. */
export interface Lane {
  readonly plan: FaultPlan;
  readonly proxy: MongoProxy;
  readonly application: Application;
  readonly service: Service;
  readonly client: HttpClient;
  readonly database: Db;
  /** Over the same proxy. */
  readonly storage: Storage;
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

const idsOf = async ({ database }: Lane, collection: string, filter: Document): Promise<number[]> => {
  const all = database.collection<Document & { _id: number }>(collection);
  return (await all.find(filter).toArray()).map(({ _id }) => _id);
};

/** An operation of a client. */
const request = (prepare: (lane: Lane) => Promise<Play<HttpResponse>>) => prepare as Operation;

let numbers = 0;

/** @param of the body of a creation, and a condition that finds its record, for each unique number */
const creation = (
  path: string,
  of: (number: number, lane: Lane) => readonly [body: object, filter: Document],
  { hasKey = true } = {},
) =>
  request(async (lane) => {
    const [body, filter] = of(++numbers, lane);
    const headers: Record<string, string> = hasKey ? { 'Idempotency-Key': randomUUID() } : {};
    const act = () => lane.client.post(path, body, { headers });
    const created = () => idsOf(lane, path.slice(1).replace('-', '_'), filter);
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
    const isDone = async () =>
      (await idsOf(lane, 'products', { _id: id, 'fields.name': name, version: 2 })).length === 1;
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

let addresses = 0;

/** Another address each time, since one whose authentications often fail is refused. */
const from = () => `127.1.${++addresses >> 8}.${addresses & 255}`;

const withToken = ({ client, productId }: Lane, token: string) =>
  client.get(`/products/${productId}`, { token, from: from() });

const newKey = async ({ client }: Lane): Promise<{ id: number; key: string }> =>
  (await settled(() => client.post('/api-keys', { name: 'x', scopes: ['products:read'] }))).json;

export const OPERATIONS: Readonly<Record<string, Operation>> = {
  // First, because it has most replies.
  'prepare the indexes': async ({ storage, database }) => {
    const missing = async () => {
      const indexes = await database.collection('users').listIndexes().toArray();
      return !indexes.some(({ name }) => name === 'live_email');
    };
    await database.collection('users').dropIndex('live_email');
    return {
      act: async () => {
        await storage.store.open();
        return 'open';
      },
      verify: async (result) => {
        if (result) expect(await missing(), FALSE_SUCCESS).to.equal(false);
        await storage.store.open();
        expect(await missing()).to.equal(false);
      },
    };
  },
  POST: creation('/products', (n) => [{ name: `${n}` }, { 'fields.name': `${n}` }], { hasKey: false }),
  'POST with a key': creation('/products', (n) => [
    { name: `${n}`, sku: `S-${n}` },
    { 'fields.name': `${n}` },
  ]),
  'POST of an order with a key': creation('/orders', (n, { userId, productId }) => [
    { userId, items: [{ productId, quantity: n }] },
    { 'fields.items.quantity': n },
  ]),
  'POST of an API key': creation('/api-keys', (n) => [
    { name: `${n}`, scopes: ['products:read'] },
    { 'fields.name': `${n}` },
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
        expect(await idsOf(lane, 'products', { 'fields.name': name }), DOUBLED).to.deep.equal([id]);
      },
    };
  }),
  'POST of a used SKU': request(async ({ client }) => {
    const act = () => client.post('/products', { name: 'x', sku: 'used' });
    await settled(act);
    return {
      act,
      verify: async (response) => {
        if (response) expectStatus(response, 409);
      },
    };
  }),
  PUT: edit('PUT'),
  PATCH: edit('PATCH'),
  DELETE: request(async (lane) => {
    const { id } = (await settled(() => lane.client.post('/products', { name: 'gone' }))).json;
    const act = () => lane.client.delete(`/products/${id}`);
    return {
      act,
      verify: async (response) => {
        const isLive = (await idsOf(lane, 'products', { _id: id, live: true })).length === 1;
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
    const created = (name: string | undefined) => idsOf(lane, 'products', { 'fields.name': name });
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
  'first use of an API key': request(async (lane) => {
    const { key } = await newKey(lane);
    return {
      act: () => withToken(lane, key),
      verify: async (response) => {
        if (response) expectStatus(response, 200);
      },
    };
  }),
  'use of a revoked API key': request(async (lane) => {
    const { id, key } = await newKey(lane);
    await settled(() => lane.client.delete(`/api-keys/${id}`));
    return {
      act: () => withToken(lane, key),
      verify: async (response) => {
        if (response) expectStatus(response, 401);
      },
    };
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
  'save usage': async ({ client, application, database, productId }) => {
    const { usageCounter } = application;
    const total = async () => {
      const counts = await database.collection('api_key_usage').find({ keyId: 1 }).toArray();
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
  'index words': async ({ storage, database, userId: _id }) => {
    const index = storage.searchIndexes.find(({ name }) => name === 'users');
    if (!index) throw new Error('no index of words');
    const users = database.collection<Document & { _id: number }>('users');
    const before = await users.findOne({ _id });
    await users.updateOne({ _id }, { $unset: { words: 1, rules: 1, block: 1 } });
    return {
      act: () => index.indexNext(64),
      verify: async (result) => {
        const isDone = (await users.findOne({ _id }))?.['words'] !== undefined;
        if (result !== undefined) expect(isDone, FALSE_SUCCESS).to.equal(true);
        while ((await index.indexNext(64)) !== 0);
        expect(await users.findOne({ _id })).to.deep.equal(before);
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
