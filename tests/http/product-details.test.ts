import { expect } from 'chai';
import { HTTP_STORE_NAMES } from '../stores/index.js';
import { NDJSON, resultsOf } from '../support/imports.js';
import { inProcessService } from '../support/in-process-service.js';

/** Every field, in the order of the contract. */
const FULL = {
  name: 'Lamp',
  description: 'Bright',
  sku: 'L-1',
  price: { amount: 1999, currency: 'EUR' },
  attributes: { colour: 'green' },
  status: 'draft',
  tags: ['lighting/lamps', 'new'],
  images: [{ url: 'https://example.com/1.jpg', alt: 'On a desk' }, { url: 'https://example.com/2.jpg' }],
  url: 'https://example.com/lamps/1',
  brand: 'Nordlicht',
  gtin: '4006381333931',
  group: 'LAMP',
  stock: 12,
};
const JSON_PATCH = { headers: { 'Content-Type': 'application/json-patch+json' } };
const MERGE_PATCH = { headers: { 'Content-Type': 'application/merge-patch+json' } };

for (const store of HTTP_STORE_NAMES)
  describe(`the details of products on ${store}`, () => {
    const service = inProcessService({ STORE: store });
    const { sku: _, ...KEYLESS } = FULL;
    const create = async (body: object = KEYLESS) => {
      const { status, text, json } = await service.post('/v1/products', body);
      expect(status, text).to.equal(201);
      return { id: json.id as number, path: `/v1/products/${json.id}` };
    };
    const imported = async (line: object, query = '') => {
      const path = `/v1/products/imports${query}`;
      const [result] = resultsOf(await service.post(path, JSON.stringify(line), { headers: NDJSON }));
      return result;
    };

    it('have no value that is an empty list, in every way to write', async () => {
      const EMPTY = { tags: [], images: [] };
      const LISTS = { tags: FULL.tags, images: FULL.images };
      const { id, path } = await create({ name: 'Lamp', ...EMPTY });
      const text = `{"id":${id},"name":"Lamp"}`;
      expect((await service.get(path)).text).to.equal(text);
      for (const [how, write] of [
        ['PUT', () => service.put(path, { name: 'Lamp', ...EMPTY })],
        ['PATCH', () => service.patch(path, EMPTY, MERGE_PATCH)],
        [
          'JSON Patch',
          () =>
            service.patch(
              path,
              Object.entries(EMPTY).map(([name, value]) => ({ op: 'replace', path: `/${name}`, value })),
              JSON_PATCH,
            ),
        ],
        [
          'JSON Patch of the elements',
          () =>
            service.patch(
              path,
              ['/tags/0', '/tags/0', '/images/1', '/images/0'].map((one) => ({ op: 'remove', path: one })),
              JSON_PATCH,
            ),
        ],
        ['merge', () => imported({ id, ...EMPTY }, '?match=id')],
        ['replace', () => imported({ id, name: 'Lamp', ...EMPTY }, '?match=id&existing=replace')],
      ] as const) {
        const filled = await service.put(path, { name: 'Lamp', ...LISTS });
        expect(filled.json, how).to.deep.equal({ id, name: 'Lamp', ...LISTS });
        expect((await write()).status, how).to.equal(200);
        const read = await service.get(path);
        expect(read.text, how).to.equal(text);
        expect(
          (await service.get(`/v1/products?id=${id}&tags.exists=false&images.exists=false`)).json,
          how,
        ).to.have.length(1);
        // What is none already changes nothing.
        if (how !== 'JSON Patch' && how !== 'JSON Patch of the elements') {
          await write();
          expect((await service.get(path)).headers.etag, how).to.equal(read.headers.etag);
        }
      }
    });

    it('have no text of a picture that is null', async () => {
      const images = [{ url: 'https://a', alt: null }];
      const { path } = await create({ name: 'Lamp', images });
      expect((await service.get(path)).json.images).to.deep.equal([{ url: 'https://a' }]);
      expect((await service.put(path, { name: 'Lamp', images })).headers.etag).to.equal('"1"');
    });

    it('say what a spreadsheet or a typing error did to a GTIN', async () => {
      const rule = 'gtin must be a string of 8, 12, 13 or 14 digits, the last of which is the check digit.';
      const rounded = ' A spreadsheet has rounded it: format the column as text before the numbers are entered.';
      const padded = (gtin: string) =>
        ` A spreadsheet has removed its leading zeros: ${gtin} would be valid. Format the column as text.`;
      for (const [gtin, mistake] of [
        ['4.00638E+12', rounded],
        ['4,00638E+12', rounded],
        ['4e12', rounded],
        ['36000291452', padded('036000291452')],
        ['2345673', padded('02345673')],
        ['4006381333937', ' After 400638133393 the check digit would be 1.'],
        ['96385070', ' After 9638507 the check digit would be 4.'],
        ['10012345678900', ' After 1001234567890 the check digit would be 2.'],
        ['36000291453', ''],
        ['4006381-333931', ''],
        ['123456789012345', ''],
      ] as const) {
        const { status, json } = await service.post('/v1/products', { name: 'Lamp', gtin });
        expect(status).to.equal(400);
        expect(json.details.map(({ message }: { message: string }) => message)).to.deep.equal([rule + mistake]);
      }
    });
  });
