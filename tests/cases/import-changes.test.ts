import { expect } from 'chai';
import { NDJSON, ndjson, outcomes, rehearsedImport, resultsOf } from '../support/imports.js';
import { inProcessService } from '../support/in-process-service.js';

describe('what a line does to an order', () => {
  const service = inProcessService();

  it('checks only the references that it changes', async () => {
    const newId = async (plural: string, body: object) => (await service.post(`/v1/${plural}`, body)).json.id;
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push(await newId('products', { name: 'Lamp' }));
    const [gone, kept, other] = ids as [number, number, number];
    const userId = await newId('users', { name: 'Ann', email: 'ann@example.com' });
    const item = (productId: number, quantity = 1) => ({ productId, quantity });
    const id = await newId('orders', { userId, items: [item(gone), item(kept)] });
    await service.delete(`/v1/products/${gone}`);
    await service.delete(`/v1/users/${userId}`);
    const lines = [
      { id, items: [item(gone, 5), item(kept)] },
      { id, items: [item(gone, 5), item(other)] },
      { id, items: [item(kept), item(other), item(10_000)] },
      { id, userId: 10_000 },
      { id, items: [item(kept)] },
      { id, items: [item(gone)] },
    ];
    const target = '/v1/orders/imports?match=id';
    expect(outcomes(await rehearsedImport(service.client, { target, body: ndjson(lines) }))).to.deep.equal([
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

  it('asks a line for a version if it would change a record', async () => {
    const { id } = (await service.post('/v1/products', { name: 'Lamp', sku: 'one' })).json;
    const lines = [
      { sku: 'one', name: 'Torch' },
      { sku: 'one', name: 'Lamp' },
      { sku: 'one', deleted: true },
    ];
    const target = '/v1/products/imports?match=sku';
    const error = {
      code: 'precondition_required',
      message: 'Say in version which version you have seen.',
      details: [],
    };
    expect(await rehearsedImport(service.client, { target, body: ndjson(lines) })).to.deep.equal([
      { line: 1, status: 428, error },
      { line: 2, status: 200, id, version: 1, unchanged: true },
      { line: 3, status: 428, error },
    ]);
  });
});

describe('a line whose key is invalid', () => {
  const service = inProcessService();

  it('has the issues of its other members too, unless it deletes', async () => {
    const line = { sku: 'a b', version: '1', name: '', nonsense: 1 };
    const target = '/v1/products/imports?match=sku';
    const body = ndjson([line, { ...line, deleted: true }]);
    expect(outcomes(await rehearsedImport(service.client, { target, body }))).to.deep.equal([
      [
        ...[400, 'validation_failed', 'invalid_format /sku', 'invalid_type /version'],
        ...['too_short /name', 'unknown_field /nonsense'],
      ],
      [400, 'validation_failed', 'invalid_format /sku'],
    ]);
  });
});

describe('a dry run', () => {
  const service = inProcessService({ STORE: 'sqlite' });
  const post = async (query: string, lines: readonly unknown[]) =>
    resultsOf(await service.post(`/v1/products/imports${query}`, ndjson(lines), { headers: NDJSON }));

  it('leaves no trace: no word, no id', async () => {
    const { id } = (await service.post('/v1/products', { name: 'quiet', sku: 'quiet' })).json;
    const lines = [
      { sku: 'quiet', name: 'loud' },
      { sku: 'quiet-2', name: 'loud' },
      { sku: 'quiet', deleted: true },
    ];
    expect((await post('?match=sku&dryRun=true', lines)).map(({ status }) => status)).to.deep.equal([200, 201, 204]);
    expect(await post('?dryRun=true', [{ name: 'loud' }])).to.deep.equal([{ line: 1, status: 201 }]);
    for (const [word, found] of Object.entries({ loud: 0, quiet: 1 }))
      expect((await service.get(`/v1/products?q=${word}`)).json, `${word}`).to.have.length(Number(found));
    expect((await service.post('/v1/products', { name: 'next' })).json.id).to.equal(id + 1);
  });

  it('is none with dryRun=false', async () => {
    const [created] = await post('?match=sku&dryRun=false', [{ sku: 'real', name: 'real' }]);
    expect(created).to.have.all.keys('line', 'status', 'id', 'version');
    const [plain] = await post('?dryRun=false', [{ name: 'real' }]);
    expect(plain).to.have.all.keys('line', 'status', 'id');
  });
});
