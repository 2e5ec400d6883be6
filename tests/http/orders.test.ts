import { expect } from 'chai';
import { HTTP_STORE_NAMES } from '../stores/index.js';
import { type HttpClient, issuesOf } from '../support/http-client.js';
import { NDJSON, ndjson, outcomes, resultsOf } from '../support/imports.js';
import { inProcessService } from '../support/in-process-service.js';
import { list } from '../support/list.js';
import type { Fields } from './resource/collection.js';
import { resourceContract } from './resource.contract.js';

const NEVER = Number.MAX_SAFE_INTEGER;

const item = (productId: unknown, quantity: unknown = 1) => ({ productId, quantity });

const createUser = async (client: HttpClient, email = 'ann@example.com'): Promise<number> =>
  (await client.post('/users', { name: 'Ann', email })).json.id;

const createProduct = async (client: HttpClient): Promise<number> =>
  (await client.post('/products', { name: 'Lamp' })).json.id;

/** Creates user 1 and products 1 to 101 in an empty store. */
async function createReferences(client: HttpClient): Promise<void> {
  await createUser(client);
  const products = Array.from({ length: 101 }, () => ({ name: 'Lamp' }));
  const response = await client.post('/products/imports', ndjson(products), { headers: NDJSON });
  expect(outcomes(resultsOf(response))).to.deep.equal(products.map(() => 201));
}

const items = (count: number) => Array.from({ length: count }, (_, i) => item(i + 1));

resourceContract({
  plural: 'orders',
  cacheControl: 'no-store',
  prepare: createReferences,
  fields: (n) => ({ userId: 1, items: [item(1, n + 1), item((n % 99) + 2)] }),
  invalid: [
    // The rules of the fields are in support/invalid-values.ts.
    [
      'invalid items',
      { items: [null, 1, 'x', [], {}, item(1)] },
      list`invalid_type /items/0  invalid_type /items/1  invalid_type /items/2  invalid_type /items/3
        required /items/4/productId  required /items/4/quantity`,
    ],
    [
      'unknown references',
      { userId: NEVER, items: [item(1), item(NEVER), item(NEVER - 1)] },
      list`reference_not_found /userId  reference_not_found /items/1/productId  reference_not_found /items/2/productId`,
    ],
    [
      'unknown references among other issues',
      { userId: NEVER, items: [item('1'), item(NEVER, 0), item(1, 'x'), null, item(NEVER), 5], note: 'x' },
      list`invalid_type /items/0/productId  out_of_range /items/1/quantity  invalid_type /items/2/quantity
        invalid_type /items/3  invalid_type /items/5  duplicate_value /items/4/productId  unknown_field /note
        reference_not_found /userId  reference_not_found /items/1/productId  reference_not_found /items/4/productId`,
    ],
    [
      'an unknown user and invalid items',
      { userId: NEVER, items: 'x' },
      ['invalid_type /items', 'reference_not_found /userId'],
    ],
  ],
});

for (const store of HTTP_STORE_NAMES)
  describe(`orders on ${store}`, () => {
    const service = inProcessService({ STORE: store });
    before(() => createReferences(service.client));

    const createOrder = async (fields: Fields): Promise<string> => {
      const response = await service.post('/orders', fields);
      expect(response.status, response.text).to.equal(201);
      return response.headers.location ?? '';
    };
    const createOrphan = async (): Promise<{ userId: number; productId: number; path: string }> => {
      const userId = await createUser(service.client, 'gone@example.com');
      const productId = await createProduct(service.client);
      const path = await createOrder({ userId, items: [item(productId, 7), item(1)] });
      expect((await service.delete(`/users/${userId}`)).status).to.equal(204);
      expect((await service.delete(`/products/${productId}`)).status).to.equal(204);
      return { userId, productId, path };
    };

    it('keep their items in the given order', async () => {
      const given = items(100).toReversed();
      const response = await service.post('/orders', { userId: 1, items: given });
      expect([response.status, response.json.items]).to.deep.equal([201, given]);
    });

    it('say of which resource an unknown reference is', async () => {
      const response = await service.post('/orders', { userId: NEVER, items: [item(NEVER)] });
      const messages = response.json.details.map(({ message }: { message: string }) => message);
      expect(messages).to.deep.equal([
        'userId must be the id of one of the users, an integer from 1; none has this id.',
        'items.0.productId must be the id of one of the products, an integer from 1; none has this id.',
      ]);
    });

    it('replace the whole list of items in a merge patch', async () => {
      const path = await createOrder({ userId: 1, items: [item(1, 5), item(2, 5)] });
      const response = await service.patch(path, { items: [item(2, 6)] });
      expect(response.json.items).to.deep.equal([item(2, 6)]);
      const refused = await service.patch(path, { items: [{ quantity: 1 }] });
      expect(issuesOf(refused)).to.deep.equal(['required /items/0/productId']);
    });

    describe('whose user and product were deleted', () => {
      it('stay unchanged, and do not prevent the deletion', async () => {
        const { userId, productId, path } = await createOrphan();
        const response = await service.get(path);
        expect([response.status, response.headers.etag]).to.deep.equal([200, '"1"']);
        expect(response.json).to.deep.include({ userId, items: [item(productId, 7), item(1)] });
      });

      it('can keep and move the existing references, and change other fields', async () => {
        const { userId, productId, path } = await createOrphan();
        const moved = [item(2), item(1), item(productId, 8)];
        const response = await service.put(path, { userId, items: moved });
        expect([response.status, response.json.items]).to.deep.equal([200, moved]);
        expect((await service.patch(path, { items: [item(productId)] })).status).to.equal(200);
        expect((await service.patch(path, { userId: 1 })).status).to.equal(200);
      });

      it('cannot add back a reference that they dropped', async () => {
        const { userId, productId, path } = await createOrphan();
        await service.put(path, { userId: 1, items: [item(1)] });
        const issues = list`reference_not_found /userId  reference_not_found /items/1/productId`;
        const put = await service.put(path, { userId, items: [item(1), item(productId)] });
        expect(issuesOf(put)).to.deep.equal(issues);
        expect(issuesOf(await service.patch(path, { userId }))).to.deep.equal(issues.slice(0, 1));
      });
    });

    it('that race the deletion of a product are either created or rejected', async () => {
      const productId = await createProduct(service.client);
      const body = { userId: 1, items: [item(productId)] };
      const [deleted, ...responses] = await Promise.all([
        service.delete(`/products/${productId}`),
        ...Array.from({ length: 20 }, () => service.post('/orders', body)),
      ]);
      expect(deleted.status).to.equal(204);
      for (const response of responses) {
        expect(response.status).to.be.oneOf([201, 400]);
        if (response.status === 400) expect(response.json.details[0].code).to.equal('reference_not_found');
        else expect((await service.get(response.headers.location ?? '')).json).to.deep.include(body);
      }
      expect((await service.post('/orders', body)).status).to.equal(400);
    });
  });
