import { expect } from 'chai';
import fc from 'fast-check';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { sized } from '../support/run-settings.js';

/** An operation on one product, or on the products with its SKU. */
interface Operation {
  readonly method: string;
  readonly on: 'item' | 'list';
  readonly body?: { readonly name: string; readonly sku?: string };
}

const SKU = 'PIPELINED';
const NAMES = ['Lamp', 'Desk', 'Chair'];
const OPERATIONS: readonly Operation[] = [
  { method: 'GET', on: 'item' },
  { method: 'GET', on: 'list' },
  { method: 'DELETE', on: 'item' },
  ...NAMES.flatMap((name): Operation[] => [
    { method: 'PATCH', on: 'item', body: { name } },
    { method: 'PUT', on: 'item', body: { name, sku: SKU } },
    { method: 'POST', on: 'list', body: { name, sku: SKU } },
  ]),
];
const HTTPS = { 'X-Forwarded-Proto': 'https' };

for (const [kind, environment] of [
  ['TLS', {}],
  ['plain HTTP', { TLS: 'proxy', TRUSTED_PROXIES: '127.0.0.1' }],
] as const) {
  describe(`pipelined operations in one packet over ${kind}`, () => {
    const service = inProcessService(environment);

    /** Creates a product; deletes every product with its SKU afterwards. */
    const withProduct = async (run: (id: number) => Promise<string[]>) => {
      const body = { name: 'Lamp', sku: SKU };
      const created = await service.client.post('/v1/products', body, { headers: HTTPS });
      const outcomes = await run(created.json.id);
      const remaining = await service.client.get(`/v1/products?sku=${SKU}`, { headers: HTTPS });
      for (const { id } of remaining.json) await service.client.delete(`/v1/products/${id}`, { headers: HTTPS });
      return outcomes;
    };

    const oneByOne = (operations: readonly Operation[]) =>
      withProduct(async (id) => {
        const outcomes: string[] = [];
        for (const operation of operations) {
          const { method, body } = operation;
          const path = pathOf(operation, id);
          const { status, text } = await service.client.request(method, path, { body, headers: HTTPS });
          outcomes.push(comparable(status, text, id));
        }
        return outcomes;
      });

    const inOnePacket = (operations: readonly Operation[]) =>
      withProduct(async (id) => {
        const messages = operations.map((operation) => messageOf(operation, id));
        const end = `GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
        const text = await service.client.raw(messages.join('') + end);
        return text
          .split(/(?=HTTP\/1\.1 \d\d\d )/)
          .slice(0, -1)
          .map((part) => comparable(Number(part.slice(9, 12)), part.split('\r\n\r\n')[1] ?? '', id));
      });

    it('have the same outcome as one by one', async () => {
      const some = fc.array(fc.constantFrom(...OPERATIONS), { minLength: 2, maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(some, async (operations) => {
          expect(await inOnePacket(operations)).to.deep.equal(await oneByOne(operations));
        }),
        { numRuns: sized({ gate: 15, night: 60 }) },
      );
    });
  });
}

function pathOf({ method, on }: Operation, id: number): string {
  if (on === 'item') return `/v1/products/${id}`;
  return method === 'POST' ? '/v1/products' : `/v1/products?sku=${SKU}`;
}

function messageOf(operation: Operation, id: number): string {
  const content = operation.body ? JSON.stringify(operation.body) : '';
  return [
    `${operation.method} ${pathOf(operation, id)} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${FIRST_KEY}`,
    'X-Forwarded-Proto: https',
    ...(content ? ['Content-Type: application/json', `Content-Length: ${content.length}`] : []),
    '',
    content,
  ].join('\r\n');
}

/** @returns the response without the parts that differ between products and requests */
function comparable(status: number, body: string, id: number): string {
  const text = body
    .replaceAll(/"(createdAt|updatedAt)":"[^"]*"/g, '"$1"')
    .replaceAll(/"id":(\d+)/g, (_, found) => `"id":${Number(found) - id}`);
  return `${status} ${text}`;
}
