import { expect } from 'chai';
import { HTTP_STORE_NAMES } from '../stores/index.js';
import { expectRefusal, issuesOf } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';

const TYPE = { headers: { 'Content-Type': 'application/json-patch+json' } };

for (const store of HTTP_STORE_NAMES)
  describe(`JSON Patch on ${store}`, () => {
    const service = inProcessService({ STORE: store });
    const create = async (path: string, body: object): Promise<string> => {
      const response = await service.post(path, body);
      expect(response.status, response.text).to.equal(201);
      return `${path}/${response.json.id}`;
    };
    const patch = (path: string, body: unknown) => service.patch(path, body, TYPE);

    describe('of products', () => {
      it('adds to tags, images and attributes that the product lacks, and to no others', async () => {
        const image = { url: 'https://example.com/a.jpg' };
        const add = (path: string, value: unknown) => ({ op: 'add', path, value });
        const from = (op: string, from: string, path: string) => ({ op, from, path });
        const cases: (readonly [operations: readonly object[], outcome: object | string])[] = [
          [[add('/tags/0', 'a')], { tags: ['a'] }],
          [[add('/tags/-', 'a'), add('/tags/0', 'b'), add('/tags/2', 'c')], { tags: ['b', 'a', 'c'] }],
          [[add('/images/-', image)], { images: [image] }],
          [[add('/attributes/colour', 'red')], { attributes: { colour: 'red' } }],
          [[add('/attributes/', 1)], 'validation_failed'],
          [[from('copy', '/sku', '/tags/-')], { tags: ['s'] }],
          [[from('move', '/brand', '/attributes/brand')], { brand: undefined, attributes: { brand: 'b' } }],
          [[from('copy', '/brand', '/attributes/x')], { attributes: { x: 'b' } }],
          [[add('/tags', ['a']), { op: 'remove', path: '/tags' }, add('/tags/-', 'b')], { tags: ['b'] }],
          [[add('/tags/-', 'a'), { op: 'remove', path: '/tags/0' }], {}],
          ...[
            add('/tags/1', 'a'),
            add('/tags/01', 'a'),
            add('/tags/x', 'a'),
            add('/images/0/alt', 'a'),
            add('/attributes/a/b', 1),
            add('/price/amount', 1),
            add('/brand/0', 'a'),
            add('/toString/0', 1),
            from('copy', '/tags/0', '/tags/-'),
            from('copy', '/tags', '/tags/0'),
            from('copy', '/sku', '/tags/1'),
            from('move', '/attributes/a', '/attributes/b'),
            { op: 'remove', path: '/tags/0' },
            { op: 'replace', path: '/tags', value: [] },
            { op: 'replace', path: '/attributes/a', value: 1 },
          ].map((one) => [[one], 'invalid_patch'] as const),
          [[{ op: 'test', path: '/tags', value: [] }], 'patch_test_failed'],
          [[{ op: 'test', path: '/tags/0', value: 'a' }], 'patch_test_failed'],
          [[add('/tags/-', 'a'), { op: 'test', path: '/tags', value: ['a'] }], { tags: ['a'] }],
        ];
        const plain = { name: 'Lamp', sku: 's', brand: 'b' };
        const path = await create('/products', plain);
        for (const [operations, outcome] of cases) {
          await service.put(path, plain);
          const { status, json } = await patch(path, operations);
          const { id, ...rest } = json;
          const what = JSON.stringify(operations);
          if (typeof outcome === 'string') expect([json.code, status > 399], what).to.deep.equal([outcome, true]);
          else expect(rest, what).to.deep.equal(JSON.parse(JSON.stringify({ ...plain, ...outcome })));
        }
      });
    });

    it('of users adds to no list of a product', async () => {
      const path = await create('/users', { name: 'Ann', email: 'tagged@example.com' });
      await expectRefusal(patch(path, [{ op: 'add', path: '/tags/-', value: 'a' }]), 'invalid_patch');
    });

    describe('of orders', () => {
      let orders = 0;
      const createOrder = async () => {
        const userPath = await create('/users', { name: 'Cy', email: `cy.${++orders}@example.com` });
        const products = await Promise.all([1, 2, 3].map(() => create('/products', { name: 'Lamp' })));
        const ids = products.map((path) => Number(path.split('/').at(-1)));
        const items = ids.slice(0, 2).map((productId) => ({ productId, quantity: 1 }));
        const path = await create('/orders', { userId: Number(userPath.split('/').at(-1)), items });
        return { path, products, ids, items };
      };

      it('adds, removes and changes single items', async () => {
        const { path, ids, items } = await createOrder();
        const { json } = await patch(path, [
          { op: 'test', path: '/items', value: items },
          { op: 'add', path: '/items/-', value: { productId: ids[2], quantity: 3 } },
          { op: 'replace', path: '/items/1/quantity', value: 7 },
          { op: 'remove', path: '/items/0' },
        ]);
        expect(json.items).to.deep.equal([
          { productId: ids[1], quantity: 7 },
          { productId: ids[2], quantity: 3 },
        ]);
        const twice = await patch(path, [{ op: 'copy', from: '/items/0', path: '/items/0' }]);
        expect(issuesOf(twice)).to.deep.equal(['duplicate_value /items/1/productId']);
        const none = await patch(path, [{ op: 'replace', path: '/items', value: [] }]);
        expect(issuesOf(none)).to.deep.equal(['too_short /items']);
      });
    });
  });
