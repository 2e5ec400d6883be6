import { expect } from 'chai';
import type { Product } from 'product-catalogue-client';
import { catalogueService, rejection } from './catalogue-service.js';

describe('the writes of the client', () => {
  const { connect, attempts } = catalogueService();
  const changedMeanwhile = { status: 412, code: 'precondition_failed' };

  it('to a record succeed only if it is unchanged since the read', async () => {
    const { products } = connect();
    const lamp = await products.create({ name: 'Lamp' });
    const torch = await products.replace(lamp, { ...lamp.data, name: 'Torch' });
    expect([torch.data.name, torch.etag]).to.deep.equal(['Torch', '"2"']);
    expect(await rejection(products.replace(lamp, { name: 'Late' }))).to.deep.include(changedMeanwhile);
    expect(await rejection(products.patch(lamp, { name: 'Late' }))).to.deep.include(changedMeanwhile);
    expect(await rejection(products.delete(lamp))).to.deep.include(changedMeanwhile);
    expect((await products.read(lamp.id)).data.name).to.equal('Torch');
    await products.delete(await products.read(lamp.id));
    expect(await rejection(products.read(lamp.id))).to.have.property('code', 'not_found');
  });

  it('to an id have no precondition', async () => {
    const { products } = connect();
    const { id } = await products.create({ name: 'Lamp', sku: 'L-1' });
    const torch = await products.patch(id, { name: 'Torch', sku: null });
    expect(torch).to.deep.include({ id, data: { id, name: 'Torch' }, etag: '"2"' });
    const beam = await products.patch(id, [{ op: 'replace', path: '/name', value: 'Beam' }]);
    expect(beam.data.name).to.equal('Beam');
    await products.delete(id);
  });

  it('lose no edit if many edits run at once', async () => {
    const { products } = connect();
    const { id } = await products.create({ name: 'Lamp', price: { amount: 0, currency: 'EUR' } });
    const dearer = ({ price, ...rest }: Product) => ({
      ...rest,
      price: { amount: (price?.amount ?? 0) + 1, currency: 'EUR' },
    });
    const raise = () => products.edit(id, dearer, { maxAttempts: 100 });
    await Promise.all(Array.from({ length: 10 }, raise));
    expect((await products.read(id)).data.price?.amount).to.equal(10);
    expect(attempts.some(({ status }) => status === 412)).to.equal(true);
  });

  it('read past caches before an edit', async () => {
    const { users } = connect();
    const { id } = await users.create({ name: 'Ann', email: 'ann@example.com' });
    await users.edit(id, (user) => ({ ...user, name: 'Anne' }));
    expect(attempts.map(({ request }) => [request.method, request.cache])).to.deep.equal([
      ['POST', 'default'],
      ['GET', 'no-cache'],
      ['PUT', 'default'],
    ]);
  });

  it('give up an edit after maxAttempts, and an edit that fails', async () => {
    const { products } = connect();
    const { id } = await products.create({ name: 'Lamp' });
    let tries = 0;
    const hurried = products.edit(
      id,
      async (product) => {
        tries++;
        await products.patch(id, { description: `${tries}` });
        return product;
      },
      { maxAttempts: 3 },
    );
    expect(await rejection(hurried)).to.deep.include(changedMeanwhile);
    expect(tries).to.equal(3);
    expect(await rejection(products.edit(id, () => ({ name: '' })))).to.have.property('code', 'validation_failed');
    const throwing = products.edit(id, () => {
      throw new RangeError('mine');
    });
    expect(await rejection(throwing)).to.be.instanceOf(RangeError);
  });

  it('work through the plain methods, which return errors', async () => {
    const { GET, POST, PUT } = connect();
    const created = await POST('/v1/products', { body: { name: 'Lamp' } });
    const path = { id: created.data?.id ?? 0 };
    const read = await GET('/v1/products/{id}', { params: { path, query: { fields: ['name', 'version'] } } });
    expect(read.data).to.deep.equal({ name: 'Lamp', version: 1 });
    const header = { 'If-Match': '"7"' };
    const { error } = await PUT('/v1/products/{id}', { params: { path, header }, body: { name: 'Late' } });
    expect(error?.code).to.equal('precondition_failed');
    const listed = await GET('/v1/products', { params: { query: { attributes: { colour: 'black' } } } });
    expect(listed.data).to.deep.equal([]);
  });
});
