import { expect } from 'chai';
import { CatalogueError } from 'product-catalogue-client';
import { all, catalogueService, refusal } from './catalogue-service.js';

async function* lamps(count: number) {
  for (let i = 0; i < count; i++) yield { name: `Lamp ${i}` };
}

describe('an import by the client', () => {
  const { connect, tried } = catalogueService();

  it('tells of every record what became of it', async () => {
    const { products } = connect();
    const results = await all(products.import([{ name: 'Desk' }, { name: '' }, { name: 'Chair' }]));
    expect(results.map((result) => ('id' in result ? result.status : result.error.code))).to.deep.equal([
      201,
      'validation_failed',
      201,
    ]);
    expect(tried.map(({ request }) => request.headers.has('Idempotency-Key'))).to.deep.equal([false]);
  });

  it('takes the records as they are made, and can be sent again under its key', async () => {
    const { products } = connect();
    const idempotencyKey = 'delivery-2026-11';
    const before = await all(products.import(lamps(300), { idempotencyKey }));
    const again = await all(products.import(lamps(301), { idempotencyKey }));
    expect(before.filter(({ status }) => status === 201)).to.have.length(300);
    expect(again.map((result) => 'replayed' in result).lastIndexOf(true)).to.equal(299);
    expect(await all(products.list({ 'name:prefix': 'Lamp ', limit: 50 }))).to.have.length(301);
  });

  it('ends where the records fail', async () => {
    async function* broken() {
      yield { name: 'Stool' };
      throw new RangeError('no more');
    }
    await refusal(all(connect().products.import(broken())));
    expect(tried).to.have.length(1);
  });

  it('is not sent twice where it was refused', async () => {
    const putOff = () => async () =>
      new Response('{"code":"rate_limited","message":"later","details":[]}', { status: 429 });
    const error = await refusal(all(connect({}, putOff).products.import(lamps(2))));
    expect(error).to.be.instanceOf(CatalogueError).with.property('code', 'rate_limited');
    expect(tried).to.have.length(1);
  });
});
