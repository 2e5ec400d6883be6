import { expect } from 'chai';
import fc from 'fast-check';
import type { EditableCollection, ImportResult } from '#packages/client/index.js';
import { formFields } from '#packages/pages/console/edit/form-model.js';
import { changesOf, isDone } from '#packages/pages/console/transfer/file-changes.js';
import type { AnyTypes } from '#packages/pages/console/types.js';
import type { OpenApi } from '#packages/pages/docs/openapi.js';
import { References } from '#packages/pages/docs/references.js';
import { inProcessService } from '../support/in-process-service.js';
import { jsonLines } from '../support/line-stream.js';
import { documentOf } from '../support/openapi/described.js';

const COUNT = 500;
const FIELDS = formFields({ $ref: '#/components/schemas/ProductInput' }, new References(documentOf({}) as OpenApi));

/** Few values, so that many are equal, or look alike and differ in their type. */
const keys = fc.constantFrom('k', 'l', 'm.n');
const value = fc.constantFrom<(string | number | boolean)[]>('', 'x', '5', '1.0', 5, 7.5, true, false);
const stored = fc.record(
  {
    name: fc.constantFrom('a', 'b'),
    description: fc.constantFrom('', 'd'),
    price: fc.record({ amount: fc.constantFrom(0, 5, 500), currency: fc.constantFrom('EUR', 'JPY') }),
    attributes: fc.dictionary(keys, value),
    tags: fc.constantFrom(['a', 'b'], ['a ', 'b']),
    images: fc.constantFrom([{ url: 'https://a', alt: 'A' }], [{ url: 'https://a' }, { url: 'https://b' }]),
    stock: fc.constantFrom(5, 6),
    status: fc.constantFrom('draft', 'archived'),
  },
  { requiredKeys: ['name'], noNullPrototype: true },
);

/** The cells of each column. */
const CELLS = {
  name: ['a', 'b', ''],
  description: ['d', '""', ''],
  'price.decimal': ['5', '5.0000', '0.05', ''],
  'price.currency': ['EUR', 'JPY', ''],
  'attributes.k': ['5', '5.0', 'x', 'TRUE', '1.0', '""', ''],
  'attributes[m.n]': ['7.5', 'false', 'null', ''],
  'attributes[l]:number': ['5', '5.0', '1e1', ''],
  tags: ['a|b', 'a |b', ' a', ''],
  images: ['https://a', 'https://a|https://b', '[]', ''],
  stock: ['5', '1.0', ''],
  status: ['draft', 'live', '', ''],
};
const row = fc.tuple(...Object.values(CELLS).map((cells) => fc.constantFrom(...cells))).map((cells) => cells.join(','));
const patch = fc.record(
  {
    name: fc.constantFrom('a', 'b'),
    description: fc.constantFrom('', 'd', null),
    price: fc.option(fc.record({ amount: fc.constantFrom(0, 5), currency: fc.constant('EUR') }, { requiredKeys: [] })),
    attributes: fc.option(fc.dictionary(keys, fc.option(value))),
    status: fc.constantFrom('draft', 'live', null),
  },
  { requiredKeys: [], noNullPrototype: true },
);

const CSV = 'text/csv';
const NDJSON = 'application/x-ndjson';

describe('what the console shows as the changes of a file', () => {
  const service = inProcessService();
  const imported = async (query: string, body: string, type: string) => {
    const headers = { 'Content-Type': type };
    const { text } = await service.post(`/v1/products/imports${query}`, body, { headers });
    return jsonLines(text) as ImportResult[];
  };
  const page = async (query: object) => {
    const parameters = Object.entries(query).map(([name, one]) => `${name}=${one}`);
    return { records: (await service.get(`/v1/products?${parameters.join('&')}`)).json };
  };
  const collection = { page } as unknown as EditableCollection<AnyTypes>;

  for (const existing of ['merge', 'replace'] as const)
    for (const type of [CSV, NDJSON])
      it(`is what the service changes (${type}, ${existing})`, async () => {
        const created = fc.sample(stored, COUNT).map((record) => JSON.stringify(record));
        const ids = (await imported('', created.join('\n'), NDJSON)).map(({ id }) => id);
        const columns = type === CSV ? ['id', ...Object.keys(CELLS)] : undefined;
        const texts = columns
          ? fc.sample(row, COUNT).map((cells, at) => `${ids[at]},${cells}`)
          : fc.sample(patch, COUNT).map((one, at) => JSON.stringify({ id: ids[at], ...one }));
        const body = [...(columns ? [columns.join(',')] : []), ...texts].join('\n');
        const how = `?match=id&existing=${existing}`;
        const results = await imported(`${how}&dryRun=true`, body, type);
        const valid = results
          .map((result, at) => ({ number: at + 1, record: { text: texts[at] ?? '', columns }, result }))
          .filter(({ result }) => result.status === 200);
        expect(valid.length).to.be.greaterThan(COUNT / 10);
        const comparison = { collection, fields: FIELDS, use: { match: 'id', existing } };
        const wrong = async (isExpected: (result: ImportResult) => boolean) => {
          const changes = await changesOf(valid, comparison, new AbortController().signal);
          return changes.filter((change) => isDone(change) !== isExpected(change.finding.result));
        };
        expect(await wrong(({ unchanged }) => unchanged === true), 'before').to.deep.equal([]);
        await imported(how, body, type);
        expect(await wrong(() => true), 'after').to.deep.equal([]);
      });
});
