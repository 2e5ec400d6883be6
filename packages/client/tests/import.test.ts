import { expect } from 'chai';
import { CatalogueError } from 'product-catalogue-client';
import { all, catalogueService, refused, rejection } from './catalogue-service.js';

async function* lamps(count: number) {
  for (let i = 0; i < count; i++) yield { name: `Lamp ${i}` };
}

describe('an import by the client', () => {
  const { connect, attempts } = catalogueService();
  type Products = ReturnType<typeof connect>['products'];

  it('yields the result of every record', async () => {
    const { products } = connect();
    const results = await all(products.import([{ name: 'Desk' }, { name: '' }, { name: 'Chair' }]));
    expect(results.map((result) => result.error?.code ?? result.status)).to.deep.equal([201, 'validation_failed', 201]);
    expect(attempts.map(({ request }) => request.headers.has('Idempotency-Key'))).to.deep.equal([false]);
  });

  it('accepts a generator, and can be sent again with its key', async () => {
    const { products } = connect();
    const idempotencyKey = 'delivery-2026-11';
    const before = await all(products.import(lamps(300), { idempotencyKey }));
    const again = await all(products.import(lamps(301), { idempotencyKey }));
    expect(before.filter(({ status }) => status === 201)).to.have.length(300);
    expect(again.map((result) => 'replayed' in result).lastIndexOf(true)).to.equal(299);
    expect(await all(products.list({ 'name.prefix': 'Lamp ', limit: 50 }))).to.have.length(301);
  });

  it('ends if the source of the records throws', async () => {
    async function* broken() {
      yield { name: 'Stool' };
      throw new RangeError('no more');
    }
    await rejection(all(connect().products.import(broken())));
    expect(attempts).to.have.length(1);
  });

  it('with match creates, changes, leaves and deletes, and yields which', async () => {
    const { products } = connect();
    const lines = [
      { sku: 'M-1', name: 'Lamp', description: 'Green' },
      { sku: 'M-1', name: 'Torch' },
      { sku: 'M-1', name: 'Torch', version: 2 },
      { sku: 'M-1', name: 'Late', version: 1 },
      { sku: 'M-2', deleted: true },
      { sku: 'M-1', deleted: true },
    ];
    const results = await all(products.import(lines, { match: 'sku' }));
    const [{ id = 0 } = {}] = results;
    expect(results.map(({ error, ...rest }) => ({ ...rest, ...(error && { code: error.code }) }))).to.deep.equal([
      { line: 1, status: 201, id, version: 1 },
      { line: 2, status: 200, id, version: 2 },
      { line: 3, status: 200, id, version: 2, unchanged: true },
      { line: 4, status: 412, id, version: 2, code: 'precondition_failed' },
      { line: 5, status: 204, unchanged: true },
      { line: 6, status: 204 },
    ]);
    expect(attempts.map(({ request }) => request.headers.has('Idempotency-Key'))).to.deep.equal([false]);
  });

  it('with match replaces or skips what exists, or writes nothing', async () => {
    const { products } = connect();
    const { id } = await products.put({ sku: 'M-3' }, { name: 'Lamp', description: 'Green' });
    const csv = 'sku,name\nM-3,Torch\n';
    const dry = await all(products.importFile('text/csv', csv, { match: 'sku', dryRun: true }));
    expect(dry.map(({ status }) => status)).to.deep.equal([200]);
    expect((await products.read(id)).data.name).to.equal('Lamp');
    const [skipped] = await all(products.importFile('text/csv', csv, { match: 'sku', existing: 'skip' }));
    expect(skipped).to.deep.include({ id, unchanged: true });
    await all(products.importFile('text/csv', csv, { match: 'sku', existing: 'replace' }));
    expect((await products.read(id)).data).to.deep.equal({ id, name: 'Torch', sku: 'M-3' });
  });

  it('takes CSV from a text, a Blob or a stream, which an export gives with the columns that fields names', async () => {
    const { products } = connect();
    const statuses: number[] = [];
    for (const file of [
      'name,brand,attributes.colour\nLamp,CSV,green\n"",,\n',
      new Blob(['name,brand\nDesk,CSV\n']),
      new Blob(['name,brand\nChair,CSV\n']).stream(),
    ])
      for (const { status } of await all(products.importFile('text/csv', file))) statuses.push(status);
    expect(statuses).to.deep.equal([201, 400, 201, 201]);
    const fields = ['name', 'attributes.colour'] as const;
    const stream = await products.exportFile('text/csv', { brand: 'CSV', sort: ['name'], fields });
    expect(await new Response(stream).text()).to.equal('name,attributes.colour\r\nChair,\r\nDesk,\r\nLamp,green\r\n');
  });

  it('of CSV has the errors of its header row', async () => {
    const error = await rejection(all(connect().products.importFile('text/csv', 'colour\n')));
    expect(error).to.be.instanceOf(CatalogueError).with.property('code', 'validation_failed');
  });

  it('is not retried, whatever it has', async () => {
    const busy = () => async () => refused(503);
    const imports: ((products: Products) => AsyncIterable<unknown>)[] = [
      (products) => products.import(lamps(2)),
      (products) => products.import([{ sku: 'M-4', name: 'Lamp' }], { match: 'sku' }),
      (products) => products.importFile('text/csv', 'name\nx\n', { idempotencyKey: 'delivery' }),
    ];
    for (const start of imports) {
      const error = await rejection(all(start(connect({}, busy).products)));
      expect(error).to.be.instanceOf(CatalogueError).with.property('status', 503);
      expect(attempts).to.have.length(1);
    }
  });
});
