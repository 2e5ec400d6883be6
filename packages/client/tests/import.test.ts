import { expect } from 'chai';
import { CatalogueError } from 'product-catalogue-client';
import { all, catalogueService, rejection } from './catalogue-service.js';

async function* lamps(count: number) {
  for (let i = 0; i < count; i++) yield { name: `Lamp ${i}` };
}

describe('an import by the client', () => {
  const { connect, attempts } = catalogueService();

  it('yields the result of every record', async () => {
    const { products } = connect();
    const results = await all(products.import([{ name: 'Desk' }, { name: '' }, { name: 'Chair' }]));
    expect(results.map((result) => result.error?.code ?? result.status)).to.deep.equal([
      201,
      'validation_failed',
      201,
    ]);
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

  it('is not retried after a refusal', async () => {
    const limited = () => async () =>
      new Response('{"code":"rate_limited","message":"later","details":[]}', { status: 429 });
    const error = await rejection(all(connect({}, limited).products.import(lamps(2))));
    expect(error).to.be.instanceOf(CatalogueError).with.property('code', 'rate_limited');
    expect(attempts).to.have.length(1);
  });
});
