import { expect } from 'chai';
import { LOCAL_STORE_NAMES } from '../stores/index.js';
import { NDJSON, ndjson, outcomes, rehearsedImport, resultsOf } from '../support/imports.js';
import { inProcessService } from '../support/in-process-service.js';
import type { ResultLine } from '../support/line-stream.js';
import { AT_NIGHT } from '../support/run-settings.js';

type Fields = Readonly<Record<string, unknown>>;

for (const store of LOCAL_STORE_NAMES) {
  describe(`what lines do to each other on ${store}`, () => {
    const service = inProcessService({ STORE: store });
    let count = 0;
    const create = async (fields: Fields = {}, plural = 'products') =>
      (await service.client.post(`/v1/${plural}`, { name: 'Lamp', ...fields })).json.id as number;
    const send = (match: string, lines: readonly unknown[], plural = 'products') =>
      rehearsedImport(service.client, {
        target: `/v1/${plural}/imports?match=${match}`,
        body: ndjson(lines),
      });
    const statuses = (results: readonly ResultLine[]) => results.map(({ status }) => status);
    /** Two products with a sku each. */
    const pair = async () => {
      const [a, b] = [`a-${++count}`, `b-${count}`];
      return { a, b, A: await create({ sku: a }), B: await create({ sku: b }), c: `c-${count}` };
    };
    const skuOf = async (id: number) => (await service.client.get(`/v1/products/${id}`)).json.sku;
    const duplicateOf = (line: number, id?: number, field = 'sku') => {
      const message = `Another record has this ${field}.`;
      const detail = { code: 'duplicate_value', message, in: 'body', pointer: `/${field}` };
      const details = [{ ...detail, ...(id !== undefined && { id }) }];
      return { line, status: 409, error: { code: 'duplicate_value', message, details } };
    };

    it('takes a value that an earlier line gave up: another one, none, or its record is gone', async () => {
      for (const given of [{ sku: 'x' }, { sku: null }, { deleted: true }]) {
        const { a, b, A, B } = await pair();
        const gives = { id: A, ...given, ...(given.sku === 'x' && { sku: `x-${count}` }) };
        const results = await send('id', [gives, { id: B, sku: a }]);
        expect(statuses(results), JSON.stringify(given)).to.deep.equal([given.deleted ? 204 : 200, 200]);
        expect(await skuOf(B)).to.equal(a);
        expect(outcomes(await send('id', [{ id: B, sku: b }]))).to.deep.equal([200]);
      }
    });

    it('does not take a value that a later line gives up, and says who has it', async () => {
      const { a, A, B, c } = await pair();
      const results = await send('id', [
        { id: B, sku: a },
        { id: A, sku: c },
        { id: B, sku: a },
      ]);
      expect(results).to.deep.equal([
        duplicateOf(1, A),
        { line: 2, status: 200, id: A, version: 2 },
        { line: 3, status: 200, id: B, version: 2 },
      ]);
    });

    it('swaps two values over a third, however often', async () => {
      const { a, b, c, A, B } = await pair();
      const swap = (one: number, other: number, ones: string, others: string) => [
        { id: one, sku: c },
        { id: other, sku: ones },
        { id: one, sku: others },
      ];
      const results = await send('id', [...swap(A, B, a, b), ...swap(A, B, b, a), ...swap(B, A, b, a)]);
      expect(statuses(results)).to.deep.equal(Array(9).fill(200));
      expect([await skuOf(A), await skuOf(B)]).to.deep.equal([b, a]);
    });

    // In the gate one store has so many lines: the batches do not depend on the store.
    const length = AT_NIGHT || store === 'sqlite' ? 300 : 30;
    it('gives a chain of values on, over the lines of several batches', async () => {
      const lines = Array.from({ length }, (_, n) => ({ name: 'chain', sku: `chain-${n}` }));
      const created = await send('sku', lines);
      const ids = created.map(({ id }) => id as number);
      // The last one moves to a free value, and so each one to that of the next.
      const moves = ids.map((id, n) => ({ id, sku: `chain-${n + 1}` })).reverse();
      expect(statuses(await send('id', moves))).to.deep.equal(Array(length).fill(200));
      expect([await skuOf(ids[0] ?? 0), await skuOf(ids.at(-1) ?? 0)]).to.deep.equal([
        'chain-1',
        `chain-${length}`,
      ]);
      // The other way round each one finds the value taken.
      const blocked = ids.map((id, n) => ({ id, sku: `chain-${n + 2}` }));
      const refused = await send('id', blocked);
      expect(refused.slice(0, -1)).to.deep.equal(
        ids.slice(0, -1).map((_, n) => duplicateOf(n + 1, ids[n + 1])),
      );
      expect(refused.at(-1)).to.include({ status: 200 });
    });

    it('deletes and creates again under one key, in one stream', async () => {
      const sku = `again-${++count}`;
      const first = await create({ sku });
      const results = await send('sku', [
        { sku, deleted: true },
        { sku, name: 'two' },
        { sku, deleted: true },
        { sku, name: 'three' },
        { sku, name: 'three' },
        { sku, name: 'four', version: 1 },
      ]);
      const [, { id: second }, , { id: third }] = results as [ResultLine, ResultLine, ResultLine, ResultLine];
      expect(results).to.deep.equal([
        { line: 1, status: 204 },
        { line: 2, status: 201, id: second, version: 1 },
        { line: 3, status: 204 },
        { line: 4, status: 201, id: third, version: 1 },
        { line: 5, status: 200, id: third, version: 1, unchanged: true },
        { line: 6, status: 200, id: third, version: 2 },
      ]);
      expect([first < second, second < third]).to.deep.equal([true, true]);
    });

    it('compares e-mail addresses without case, also of lines of one batch', async () => {
      const [local, other] = [`Case.${++count}`, `Other.${count}`];
      const lines = [
        { name: 'Ann', email: `${local}@Example.com` },
        { name: 'Bob', email: `${local.toUpperCase()}@example.COM`, version: 1 },
        { email: `${local.toLowerCase()}@example.com`, name: 'Bob' },
        { email: `${local.toLowerCase()}@example.com`, version: 2 },
      ];
      const results = await send('email', lines, 'users');
      const { id } = results[0];
      expect(results).to.deep.equal([
        { line: 1, status: 201, id, version: 1 },
        { line: 2, status: 200, id, version: 2 },
        { line: 3, status: 200, id, version: 2, unchanged: true },
        { line: 4, status: 200, id, version: 2, unchanged: true },
      ]);
      expect((await service.client.get(`/v1/users/${id}`)).json.email).to.equal(lines[0]?.email);
      const second = await create({ email: `${other}@example.com` }, 'users');
      const taken = await send('id', [{ id: second, email: `${local.toUpperCase()}@EXAMPLE.com` }], 'users');
      expect(taken).to.deep.equal([duplicateOf(1, id, 'email')]);
    });
  });
}

describe('what a line does to a product', () => {
  const service = inProcessService({ STORE: 'sqlite' });
  const FULL = {
    name: 'Lamp',
    description: 'Bright',
    price: { amount: 1999, currency: 'EUR' },
    attributes: { watt: 7.5, colour: 'red', on: true },
  };
  let count = 0;
  /** Applies a line to a product. @returns its result, and the fields afterwards */
  const apply = async (line: Fields, existing: string, stored: Fields = FULL) => {
    const sku = `P-${++count}`;
    const { id } = (await service.client.post('/v1/products', { ...stored, sku })).json;
    const target = `/v1/products/imports?match=sku&existing=${existing}`;
    const [result] = await rehearsedImport(service.client, { target, body: ndjson([{ sku, ...line }]) });
    const { id: _id, sku: _sku, ...fields } = (await service.client.get(`/v1/products/${id}`)).json;
    return { result, fields, outcome: outcomes([result])[0] };
  };

  it('merges as a merge patch does (RFC 7396)', async () => {
    const { description: _description, ...withoutDescription } = FULL;
    for (const [line, expected] of [
      [{ name: 'Torch' }, { ...FULL, name: 'Torch' }],
      [{ description: null }, withoutDescription],
      [{ description: '' }, { ...FULL, description: '' }],
      [{ price: { amount: 5 } }, { ...FULL, price: { amount: 5, currency: 'EUR' } }],
      [
        { price: null, description: null },
        { name: 'Lamp', attributes: FULL.attributes },
      ],
      [
        { attributes: { watt: null, colour: 'blue', 'a.b': 0 } },
        { ...FULL, attributes: { colour: 'blue', on: true, 'a.b': 0 } },
      ],
      [
        { attributes: { watt: null, colour: null, on: null } },
        { name: FULL.name, description: FULL.description, price: FULL.price },
      ],
    ] as [Fields, Fields][]) {
      const { result, fields } = await apply(line, 'merge');
      expect([result.status, result.version, fields], JSON.stringify(line)).to.deep.equal([200, 2, expected]);
    }
    for (const line of [{ attributes: {} }, { attributes: { none: null } }, { price: {} }, {}]) {
      const { result, fields } = await apply(line, 'merge');
      expect([result.unchanged, fields], JSON.stringify(line)).to.deep.equal([true, FULL]);
    }
    for (const [line, ...issues] of [
      [{ name: null }, 'required /name'],
      [{ price: { amount: null } }, 'required /price/amount'],
      [{ price: { amount: 'x', currency: null } }, 'invalid_type /price/amount', 'required /price/currency'],
      [{ attributes: [] }, 'invalid_type /attributes'],
      [{ nonsense: 1 }, 'unknown_field /nonsense'],
    ] as const) {
      const { outcome, fields } = await apply(line, 'merge');
      expect(outcome, JSON.stringify(line)).to.deep.equal([400, 'validation_failed', ...issues]);
      expect(fields).to.deep.equal(FULL);
    }
  });

  it('replaces as a PUT does', async () => {
    for (const [line, expected] of [
      [{ name: 'Torch' }, { name: 'Torch' }],
      [{ name: 'Torch', description: null, price: null, attributes: { a: null } }, { name: 'Torch' }],
      [
        { ...FULL, attributes: { watt: 8 } },
        { ...FULL, attributes: { watt: 8 } },
      ],
    ] as [Fields, Fields][]) {
      const { result, fields } = await apply(line, 'replace');
      expect([result.status, result.version, fields], JSON.stringify(line)).to.deep.equal([200, 2, expected]);
    }
    for (const [line, ...issues] of [
      [{}, 'required /name'],
      [{ name: null }, 'invalid_type /name'],
      [{ name: 'x', price: { amount: 1 } }, 'required /price/currency'],
    ] as const) {
      const { outcome, fields } = await apply(line, 'replace');
      expect(outcome, JSON.stringify(line)).to.deep.equal([400, 'validation_failed', ...issues]);
      expect(fields).to.deep.equal(FULL);
    }
    const same = await apply(
      { ...FULL, attributes: { on: true, watt: 7.5, colour: 'red', none: null } },
      'replace',
    );
    expect(same.result).to.include({ status: 200, version: 1, unchanged: true });
  });

  it('takes null for no value in a new product, however existing ones are changed', async () => {
    for (const existing of ['merge', 'replace', 'skip']) {
      const sku = `N-${++count}`;
      const line = { sku, name: 'New', description: null, price: null, attributes: { a: null, b: 1 } };
      const target = `/v1/products/imports?match=sku&existing=${existing}`;
      const [{ status, id }] = (await rehearsedImport(service.client, { target, body: ndjson([line]) })) as [
        ResultLine,
      ];
      expect(status).to.equal(201);
      expect((await service.client.get(`/v1/products/${id}`)).json).to.deep.equal({
        id,
        name: 'New',
        sku,
        attributes: { b: 1 },
      });
    }
  });

  it('changes the sku only where lines are matched by id', async () => {
    const { id } = (await service.client.post('/v1/products', { name: 'Lamp', sku: 'old' })).json;
    const target = '/v1/products/imports?match=id';
    const lines = [
      { id, sku: 'new' },
      { id, sku: null },
      { id, sku: 'a b' },
    ];
    const results = await rehearsedImport(service.client, { target, body: ndjson(lines) });
    expect(outcomes(results)).to.deep.equal([200, 200, [400, 'validation_failed', 'invalid_format /sku']]);
    expect((await service.client.get(`/v1/products/${id}`)).json).to.deep.equal({ id, name: 'Lamp' });
  });
});

describe('what a line does to an order', () => {
  const service = inProcessService();

  it('checks only the references that it changes', async () => {
    const { client } = service;
    const newId = async (plural: string, body: object) => (await client.post(`/v1/${plural}`, body)).json.id;
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push(await newId('products', { name: 'Lamp' }));
    const [gone, kept, other] = ids as [number, number, number];
    const userId = await newId('users', { name: 'Ann', email: 'ann@example.com' });
    const item = (productId: number, quantity = 1) => ({ productId, quantity });
    const id = await newId('orders', { userId, items: [item(gone), item(kept)] });
    await client.delete(`/v1/products/${gone}`);
    await client.delete(`/v1/users/${userId}`);
    const lines = [
      { id, items: [item(gone, 5), item(kept)] },
      { id, items: [item(gone, 5), item(other)] },
      { id, items: [item(kept), item(other), item(10_000)] },
      { id, userId: 10_000 },
      { id, items: [item(kept)] },
      { id, items: [item(gone)] },
    ];
    const target = '/v1/orders/imports?match=id';
    expect(outcomes(await rehearsedImport(client, { target, body: ndjson(lines) }))).to.deep.equal([
      200,
      200,
      [400, 'validation_failed', 'reference_not_found /items/2/productId'],
      [400, 'validation_failed', 'reference_not_found /userId'],
      200,
      [400, 'validation_failed', 'reference_not_found /items/0/productId'],
    ]);
  });
});

describe('an import under REQUIRE_IF_MATCH', () => {
  const service = inProcessService({ REQUIRE_IF_MATCH: 'true' });

  for (const existing of ['merge', 'replace', 'skip'])
    it(`asks a line for a version only if it would change a record: existing=${existing}`, async () => {
      const { client } = service;
      const [sku, missing, fresh] = ['one', 'two', 'three'].map((name) => `${existing}-${name}`);
      const { id } = (await client.post('/v1/products', { name: 'Lamp', sku })).json;
      const lines = [
        { sku, name: 'Torch' },
        { sku, name: 'Torch', version: null },
        { sku, deleted: true },
        { sku, name: 'Lamp' },
        { sku: missing, deleted: true },
        { sku: fresh, name: 'New' },
        { sku: fresh, name: 'Newer' },
        { sku, name: 'Torch', version: 2 },
        { sku, name: '' },
        { sku, name: 'Torch', version: 1 },
      ];
      const target = `/v1/products/imports?match=sku&existing=${existing}`;
      const results = await rehearsedImport(client, { target, body: ndjson(lines) });
      const needed = [428, 'precondition_required'];
      const isSkipped = existing === 'skip';
      expect(outcomes(results)).to.deep.equal([
        isSkipped ? 200 : needed,
        isSkipped ? 200 : needed,
        needed,
        200,
        204,
        201,
        isSkipped ? 200 : needed,
        [412, 'precondition_failed'],
        isSkipped ? 200 : [400, 'validation_failed', 'too_short /name'],
        200,
      ]);
      expect(results[2]).to.deep.equal({
        line: 3,
        status: 428,
        error: {
          code: 'precondition_required',
          message: 'Say in version which version you have seen.',
          details: [],
        },
      });
      expect(results[3]).to.deep.equal({ line: 4, status: 200, id, version: 1, unchanged: true });
      const deletion = [{ sku, deleted: true, version: isSkipped ? 1 : 2 }];
      expect(outcomes(await rehearsedImport(client, { target, body: ndjson(deletion) }))).to.deep.equal([
        204,
      ]);
    });
});

describe('a dry run', () => {
  const service = inProcessService({ STORE: 'sqlite' });
  const post = async (query: string, lines: readonly unknown[], plural = 'products') =>
    resultsOf(await service.client.post(`/v1/${plural}/imports${query}`, ndjson(lines), { headers: NDJSON }));

  it('of new records shows no ids, and finds values that are taken, by whom if they exist', async () => {
    const { id } = (await service.client.post('/v1/products', { name: 'Lamp', sku: 'taken' })).json;
    const lines = [
      { name: 'a', sku: 'taken' },
      { name: 'b', sku: 'free' },
      { name: 'c', sku: 'free' },
      { name: 'd' },
      { name: '' },
      { name: 'e', id: 5, version: 1 },
    ];
    const detail = {
      code: 'duplicate_value',
      message: 'Another record has this sku.',
      in: 'body',
      pointer: '/sku',
    };
    const { code, message } = detail;
    const results = await post('?dryRun=true', lines);
    expect(results.slice(0, 4)).to.deep.equal([
      { line: 1, status: 409, error: { code, message, details: [{ ...detail, id }] } },
      { line: 2, status: 201 },
      { line: 3, status: 409, error: { code, message, details: [detail] } },
      { line: 4, status: 201 },
    ]);
    expect(outcomes(results.slice(4))).to.deep.equal([
      [400, 'validation_failed', 'too_short /name'],
      [400, 'validation_failed', 'read_only_field /id', 'read_only_field /version'],
    ]);
    expect(
      await rehearsedImport(service.client, { target: '/v1/products/imports', body: ndjson(lines) }),
    ).to.have.length(6);
  });

  it('follows a record that it would create, without an id', async () => {
    const lines = [
      { sku: 'dry', name: 'a' },
      { sku: 'dry', name: 'b', version: 1 },
      { sku: 'dry', name: 'b' },
      { sku: 'dry', name: 'c', version: 1 },
      { sku: 'dry', name: 'c', id: 1 },
      { sku: 'dry', deleted: true },
      { sku: 'dry', deleted: true },
      { sku: 'dry', name: 'd' },
    ];
    const results = await post('?match=sku&dryRun=true', lines);
    expect(results[3]?.error.code).to.equal('precondition_failed');
    expect(outcomes([results[4]])).to.deep.equal([[400, 'validation_failed', 'read_only_field /id']]);
    expect(results.map(({ error: _error, ...rest }) => rest)).to.deep.equal([
      { line: 1, status: 201, version: 1 },
      { line: 2, status: 200, version: 2 },
      { line: 3, status: 200, version: 2, unchanged: true },
      { line: 4, status: 412, version: 2 },
      { line: 5, status: 400 },
      { line: 6, status: 204 },
      { line: 7, status: 204, unchanged: true },
      { line: 8, status: 201, version: 1 },
    ]);
  });

  it('leaves no trace: no record, no version, no word, no id', async () => {
    const { client } = service;
    const { id } = (await client.post('/v1/products', { name: 'quiet', sku: 'quiet' })).json;
    const found = async (q: string) => (await client.get(`/v1/products?q=${q}`)).json.length;
    const path = `/v1/products/${id}?fields=id,name,sku,version,createdAt,updatedAt`;
    const before = (await client.get(path)).text;
    const lines = [
      { sku: 'quiet', name: 'loud', description: 'shrill' },
      { sku: 'quiet-2', name: 'loud' },
      { sku: 'quiet', deleted: true },
    ];
    expect((await post('?match=sku&dryRun=true', lines)).map(({ status }) => status)).to.deep.equal([
      200, 201, 204,
    ]);
    expect((await client.get(path)).text).to.equal(before);
    expect([await found('loud'), await found('shrill'), await found('quiet')]).to.deep.equal([0, 0, 1]);
    const user = { name: 'loud', email: 'loud@example.com' };
    expect((await post('?match=email&dryRun=true', [user], 'users'))[0]).to.deep.equal({
      line: 1,
      status: 201,
      version: 1,
    });
    expect((await client.get('/v1/users?q=loud')).json).to.deep.equal([]);
    const next = await client.post('/v1/products', { name: 'next' });
    expect(next.json.id).to.equal(id + 1);
  });

  it('is none with dryRun=false', async () => {
    const [created] = await post('?match=sku&dryRun=false', [{ sku: 'real', name: 'real' }]);
    expect(created).to.have.all.keys('line', 'status', 'id', 'version');
    const [plain] = await post('?dryRun=false', [{ name: 'real' }]);
    expect(plain).to.have.all.keys('line', 'status', 'id');
  });
});
