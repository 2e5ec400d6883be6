import { expect } from 'chai';
import { createCatalogue, type Fetch, UnknownOutcomeError } from 'product-catalogue-client';
import { list } from '../../../tests/support/list.js';
import { catalogueService, rejection } from './catalogue-service.js';

describe('the records of the client by their unique field', () => {
  const { connect, attempts } = catalogueService();
  const statuses = () => attempts.map(({ request, status }) => [request.method, status]);

  it('are created and replaced by put, which tells which', async () => {
    const { products } = connect();
    const lamp = await products.put({ sku: 'P-1' }, { name: 'Lamp', description: 'Green' });
    const torch = await products.put({ sku: 'P-1' }, { name: 'Torch' });
    expect([lamp.created, torch.created, torch.id]).to.deep.equal([true, false, lamp.id]);
    expect(torch).to.deep.include({ etag: '"2"', data: { id: lamp.id, name: 'Torch', sku: 'P-1' } });
    expect(await products.read({ sku: 'P-1' })).to.deep.equal(await products.read(lamp.id));
    expect(await products.read({ sku: 'P-1' }, { fields: ['name'] })).to.deep.equal({ data: { name: 'Torch' } });
  });

  it('are only created, or only replaced, under a precondition', async () => {
    const { products } = connect();
    const lamp = await products.put({ sku: 'P-2' }, { name: 'Lamp' }, { ifNoneMatch: '*' });
    const again = products.put({ sku: 'P-2' }, { name: 'Torch' }, { ifNoneMatch: '*' });
    expect(await rejection(again)).to.have.property('code', 'precondition_failed');
    const { etag } = await products.put({ sku: 'P-2' }, { name: 'Torch' }, { ifMatch: lamp.etag });
    expect(etag).to.equal('"2"');
    const missing = products.put({ sku: 'P-3' }, { name: 'Desk' }, { ifMatch: etag });
    expect(await rejection(missing)).to.have.property('code', 'not_found');
  });

  it('are patched, edited and deleted', async () => {
    const { users } = connect();
    const { id } = await users.put({ email: 'Ann+1@example.com' }, { name: 'Ann' });
    const key = { email: 'ann+1@EXAMPLE.com' };
    expect((await users.patch(key, { name: 'Anne' })).data.name).to.equal('Anne');
    const renamed = await users.edit(key, (user) => ({ ...user, name: `${user.name} B.` }));
    expect(renamed.data).to.deep.equal({ id, name: 'Anne B.', email: 'Ann+1@example.com' });
    await users.delete(key);
    expect(await rejection(users.read(key))).to.have.property('code', 'not_found');
    expect(statuses()).to.deep.equal([
      ['PUT', 201],
      ['PATCH', 200],
      ['GET', 200],
      ['PUT', 200],
      ['DELETE', 204],
      ['GET', 404],
    ]);
  });

  it('that no address can name are refused before a request', async () => {
    const { products } = connect();
    for (const sku of ['.', '..'])
      for (const call of [
        products.read({ sku }),
        products.put({ sku }, { name: 'Lamp' }),
        products.patch({ sku }, { name: 'Lamp' }),
        products.delete({ sku }),
      ])
        expect(await rejection(call))
          .to.be.instanceOf(RangeError)
          .with.property('message')
          .that.includes(`"${sku}"`);
    expect(attempts).to.deep.equal([]);
  });

  it('have their value in the path, encoded once', async () => {
    const paths: string[] = [];
    const fetch: Fetch = async ({ url }) => {
      paths.push(url);
      return Response.json({ id: 1 });
    };
    const { products, users } = createCatalogue({ baseUrl: 'https://localhost/shop/', fetch });
    for (const sku of ['a.b', '...', 'a/b', '%2e', 'é?#']) await products.read({ sku });
    await users.read({ email: "o'hara+x@example.com" });
    expect(paths.map((url) => url.slice('https://localhost/shop/v1/'.length))).to.deep.equal([
      ...list`products/sku/a.b  products/sku/...  products/sku/a%2Fb  products/sku/%252e  products/sku/%C3%A9%3F%23`,
      ...list`users/email/o'hara%2Bx%40example.com`,
    ]);
  });

  it('have an unknown outcome if a creation was refused after a lost response', async () => {
    let isLost = false;
    const losing = (fetch: Fetch) => async (request: Request) => {
      const response = await fetch(request);
      if (isLost) return response;
      isLost = true;
      throw new TypeError('lost');
    };
    const { products } = connect({}, losing);
    const put = products.put({ sku: 'P-9' }, { name: 'Lamp' }, { ifNoneMatch: '*' });
    expect(await rejection(put)).to.be.instanceOf(UnknownOutcomeError);
    const replaced = await connect().products.put({ sku: 'P-9' }, { name: 'Lamp' });
    expect([replaced.created, replaced.etag]).to.deep.equal([false, '"1"']);
  });
});
