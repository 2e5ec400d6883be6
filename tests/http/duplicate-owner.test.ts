import { expect } from 'chai';
import type { RequestOptions } from '../support/http-client.js';
import { NDJSON, ndjson, resultsOf } from '../support/imports.js';
import { inProcessService } from '../support/in-process-service.js';

const PROBLEM = { Accept: 'application/problem+json' };

/** The resources with a unique field, and two spellings of one value of it. */
const UNIQUE = [
  { plural: 'products', field: 'sku', value: 'TAKEN', same: 'TAKEN' },
  { plural: 'users', field: 'email', value: 'taken@example.com', same: 'TAKEN@example.com' },
] as const;

for (const settings of [{}, { PUBLIC_READ: 'products' }])
  describe(`the record that has a unique value already, with the settings ${JSON.stringify(settings)}`, () => {
    const service = inProcessService(settings);

    for (const { plural, field, value, same } of UNIQUE) {
      const message = `Another record has this ${field}.`;
      const detail = { code: 'duplicate_value', message, in: 'body', pointer: `/${field}` };
      const collection = `/v1/${plural}`;
      let owner: number;
      let other: { readonly id: number; readonly byKey: string };
      const keyWith = async (...scopes: string[]) =>
        (await service.post('/v1/api-keys', { name: 'some', scopes })).json.key as string;
      before(async () => {
        owner = (await service.post(collection, { name: 'Owner', [field]: value })).json.id;
        const key = `other${value}`;
        const { json } = await service.post(collection, { name: 'Other', [field]: key });
        other = { id: json.id, byKey: `${collection}/${field}/${key}` };
      });

      const taken = { name: 'Late', [field]: same };
      const replace = [{ op: 'replace', path: `/${field}`, value: same }];
      const item = () => `${collection}/${other.id}`;
      /** Each request that can be refused. */
      const requests = (): [title: string, method: string, path: string, options: RequestOptions][] => [
        ['POST', 'POST', collection, { body: taken }],
        ['POST with a key', 'POST', collection, { body: taken, headers: { 'Idempotency-Key': '"k"' } }],
        ['PUT', 'PUT', item(), { body: taken }],
        ['PATCH', 'PATCH', item(), { body: { [field]: same } }],
        ['JSON Patch', 'PATCH', item(), { body: replace, headers: { 'Content-Type': 'application/json-patch+json' } }],
        ['PATCH by key', 'PATCH', other.byKey, { body: { [field]: same } }],
      ];

      it(`is named to a client that may read ${plural}`, async () => {
        const reader = await keyWith(`${plural}:read`, `${plural}:write`);
        for (const [title, method, path, options] of requests())
          for (const headers of [{}, PROBLEM]) {
            const all = { ...options, token: reader, headers: { ...options.headers, ...headers } };
            const { status, json, headers: received } = await service.request(method, path, all);
            expect([status, json.code], title).to.deep.equal([409, 'duplicate_value']);
            expect(json.details, title).to.deep.equal([{ ...detail, id: owner }]);
            expect(received).to.not.have.any.keys('location', 'content-location', 'etag');
            if (headers === PROBLEM) expect(json).to.include({ type: 'about:blank', status: 409, detail: message });
          }
        for (const [query, line] of [
          ['', taken],
          ['?dryRun=true', taken],
          ['?match=id', { ...taken, id: other.id }],
          ['?match=id&existing=replace&dryRun=true', { ...taken, id: other.id }],
        ] as const) {
          const path = `${collection}/imports${query}`;
          const response = await service.post(path, ndjson([line]), { headers: NDJSON, token: reader });
          expect(resultsOf(response), query).to.deep.equal([
            { line: 1, status: 409, error: { code: 'duplicate_value', message, details: [{ ...detail, id: owner }] } },
          ]);
        }
      });

      it(`is not named to one that may only write ${plural}`, async () => {
        const writer = await keyWith(`${plural}:write`);
        const details = [detail];
        for (const [title, method, path, options] of requests().filter(([, method]) => method !== 'PATCH')) {
          const response = await service.request(method, path, { ...options, token: writer });
          expect([response.status, response.json.details], title).to.deep.equal([409, details]);
        }
        const csv = `name,${field}\nLate,${same}\n`;
        for (const [type, body] of Object.entries({ 'application/x-ndjson': ndjson([taken]), 'text/csv': csv })) {
          const options = { headers: { 'Content-Type': type }, token: writer };
          const response = await service.post(`${collection}/imports`, body, options);
          expect(resultsOf(response)[0].error.details, type).to.deep.equal(details);
        }
      });
    }
  });
