import { expect } from 'chai';
import type { EditableCollection, ImportResult } from '#packages/client/index.js';
import { formFields } from '#packages/pages/console/edit/form-model.js';
import type { JsonObject } from '#packages/pages/console/edit/json.js';
import { changesOf, excerpts, isDone } from '#packages/pages/console/transfer/file-changes.js';
import type { AnyTypes, CatalogueRecord } from '#packages/pages/console/types.js';
import type { OpenApi } from '#packages/pages/docs/openapi.js';
import { References } from '#packages/pages/docs/references.js';
import { PRODUCT_FIELDS } from './product-fields.js';

const never = new AbortController().signal;

/** A collection with these records, which notes what is asked for. */
function collectionOf(records: readonly CatalogueRecord[], asked: unknown[] = []) {
  const page = async (query: { readonly 'id.in': readonly string[] }) => {
    asked.push(query);
    return { records: records.filter(({ id }) => query['id.in'].includes(String(id))) };
  };
  return { page } as unknown as EditableCollection<AnyTypes>;
}

const comparing = (collection: EditableCollection<AnyTypes>, isReplaced = false) => ({
  collection,
  fields: PRODUCT_FIELDS,
  use: { match: 'id', existing: isReplaced ? ('replace' as const) : ('merge' as const) },
});

const finding = (text: string, columns?: readonly string[], id = 7) => ({
  number: 1,
  record: { text, columns },
  result: { line: 1, status: 200, id } as ImportResult,
});

const LAMP = {
  id: 7,
  name: 'Lamp',
  description: 'Brass',
  price: { amount: 1990, currency: 'EUR' },
  attributes: { watts: 5, dim: true, size: '10' },
};

/** The fields that differ: what the service has, and what the file says. */
async function differences(text: string, columns?: readonly string[], isReplaced = false) {
  const [change] = await changesOf([finding(text, columns)], comparing(collectionOf([LAMP]), isReplaced), never);
  return Object.fromEntries(
    (change?.differences ?? []).map(({ path, theirs, yours }) => [path.join('.'), [theirs, yours]]),
  );
}

describe('what a file changes', () => {
  it('is what it says beside what it leaves alone, as a merge patch', async () => {
    const record = {
      id: 7,
      version: 3,
      name: 'Lamp',
      description: null,
      attributes: { watts: 6, dim: null },
    };
    expect(await differences(JSON.stringify(record))).to.deep.equal({
      description: ['Brass', undefined],
      'attributes.watts': [5, 6],
      'attributes.dim': [true, undefined],
    });
  });

  it('is all that it says, if it only adds records, which it compares with none', async () => {
    const record = {
      id: 7,
      name: 'Desk',
      price: { amount: 1990, currency: 'EUR' },
      tags: [],
      attributes: { dim: null },
    };
    const use = { match: undefined, existing: 'merge' } as const;
    const asked: unknown[] = [];
    const comparison = { ...comparing(collectionOf([LAMP], asked)), use };
    const [change] = await changesOf([finding(JSON.stringify(record))], comparison, never);
    expect(change?.next).to.deep.equal({ id: 7, name: 'Desk', price: record.price });
    expect([change?.current, asked]).to.deep.equal([undefined, []]);
  });

  it('is also what it leaves out, if it replaces the record', async () => {
    expect(await differences('{"id":7,"name":"Desk","price":null}', undefined, true)).to.deep.equal({
      name: ['Lamp', 'Desk'],
      description: ['Brass', undefined],
      price: [{ amount: 1990, currency: 'EUR' }, undefined],
      'attributes.watts': [5, undefined],
      'attributes.dim': [true, undefined],
      'attributes.size': ['10', undefined],
    });
  });

  for (const [columns, row, expected] of [
    ['name,description', ',', {}],
    ['name,description', 'Lamp,""', { description: ['Brass', ''] }],
    ['name,description', '"Lamp, tall",Brass', { name: ['Lamp', 'Lamp, tall'] }],
    ['price.amount', '2190', { price: [LAMP.price, { amount: 2190, currency: 'EUR' }] }],
    ['price.decimal', '21.9', { price: [LAMP.price, { amount: 2190, currency: 'EUR' }] }],
    ['price.decimal,price.currency', '1990,JPY', { price: [LAMP.price, { amount: 1990, currency: 'JPY' }] }],
    ['price.decimal,price.currency', '19.9,EUR', {}],
    ['attributes.watts,attributes.dim,attributes.size', '5.0,true,10', {}],
    ['attributes.watts,attributes.size', '6,10.0', { 'attributes.watts': [5, 6], 'attributes.size': ['10', '10.0'] }],
    ['attributes.dim', 'FALSE', { 'attributes.dim': [true, false] }],
    ['price.decimal', '19.9000', {}],
    ['attributes[dim]', 'false', { 'attributes.dim': [true, false] }],
    ['attributes[size]:number', '10', { 'attributes.size': ['10', 10] }],
    ['attributes.a.b', 'x', { 'attributes.a.b': [undefined, 'x'] }],
    ['attributes', '"{""dim"":null,""watts"":5,""size"":""10""}"', { 'attributes.dim': [true, undefined] }],
  ] as const)
    it(`is read from the cells ${row} of ${columns} as the service reads them`, async () => {
      expect(await differences(`7,3,${row}`, ['id', 'version', ...columns.split(',')])).to.deep.equal(expected);
    });

  it('is what an empty cell or an absent column removes, if it replaces the record', async () => {
    expect(await differences('7,Lamp,,6', ['id', 'name', 'description', 'attributes.watts'], true)).to.deep.equal({
      description: ['Brass', undefined],
      price: [LAMP.price, undefined],
      'attributes.watts': [5, 6],
      'attributes.dim': [true, undefined],
      'attributes.size': ['10', undefined],
    });
  });

  it('is read with the records that it concerns, a hundred at a time', async () => {
    const asked: { 'id.in': string[] }[] = [];
    const ids = Array.from({ length: 250 }, (_, at) => at + 1);
    const records = ids.filter((id) => id !== 200).map((id) => ({ id, name: 'Lamp' }));
    const findings = ids.map((id) =>
      finding(`{"id":${id},"version":2,"name":"${id % 2 ? 'Lamp' : 'Desk'}"}`, undefined, id),
    );
    const changes = await changesOf(findings, comparing(collectionOf(records, asked)), never);
    expect(asked.map((query) => query['id.in'].length)).to.deep.equal([100, 100, 50]);
    expect(changes.map((change) => isDone(change))).to.deep.equal(ids.map((id) => id % 2 === 1));
    expect(changes[199]?.current).to.equal(undefined);
    expect(changes[0]?.version).to.equal(2);
  });

  it('is a list as a whole, of which an empty one is no value', async () => {
    const text = { type: 'string' } as const;
    const properties = { tags: { type: 'array', items: text }, name: text } as const;
    const fields = formFields({ properties }, new References({} as OpenApi));
    const record = { id: 7, tags: ['a', 'b'] };
    const spaced = { id: 7, tags: ['a ', 'b'] };
    const columns = ['id', 'tags'];
    for (const [stored, { text, columns: header }, expected] of [
      [record, { text: '7,a|b', columns }, []],
      [record, { text: '7, a | b', columns }, []],
      [spaced, { text: '7,a |b', columns }, []],
      [
        record,
        { text: '7,[a|b', columns },
        [
          [
            ['a', 'b'],
            ['[a', 'b'],
          ],
        ],
      ],
      [record, { text: '7,""', columns }, [[['a', 'b'], undefined]]],
      [record, { text: '7,b', columns }, [[['a', 'b'], ['b']]]],
      [record, { text: '{"id":7,"tags":[]}', columns: undefined }, [[['a', 'b'], undefined]]],
      [{ id: 7 }, { text: '{"id":7,"tags":[]}', columns: undefined }, []],
    ] as const) {
      const comparison = { ...comparing(collectionOf([stored])), fields };
      const [change] = await changesOf([finding(text, header)], comparison, never);
      expect(change?.differences.map(({ theirs, yours }) => [theirs, yours])).to.deep.equal(expected);
    }
  });

  it('keeps the spelling of the key by which a merge finds the record', async () => {
    const page = async () => ({ records: [{ id: 7, email: 'Ann@example.com' }] });
    const collection = { page } as unknown as EditableCollection<AnyTypes>;
    const fields = formFields({ properties: { email: { type: 'string' } } }, new References({} as OpenApi));
    for (const existing of ['merge', 'replace'] as const) {
      const comparison = { collection, fields, use: { match: 'email', existing } };
      const [change] = await changesOf([finding('ANN@example.com', ['email'])], comparison, never);
      expect(change && isDone(change)).to.equal(existing === 'merge');
    }
  });

  it('keeps the alternative texts of pictures whose URLs it names', async () => {
    const images = [{ url: 'https://a', alt: 'A' }, { url: 'https://b' }];
    const comparison = comparing(collectionOf([{ id: 7, images }]));
    const columns = ['id', 'images'];
    for (const [cell, expected] of [
      ['https://a|https://b', []],
      ['https://b|https://c', [[images, [{ url: 'https://b' }, { url: 'https://c' }]]]],
    ] as const) {
      const [change] = await changesOf([finding(`7,${cell}`, columns)], comparison, never);
      expect(change?.differences.map(({ theirs, yours }) => [theirs, yours])).to.deep.equal(expected);
    }
  });

  it('is the whole record, if the file deletes it', async () => {
    for (const [text, columns] of [
      ['{"id":7,"deleted":true}', undefined],
      ['7,TRUE,Desk', ['id', 'deleted', 'name']],
    ] as const) {
      const [change] = await changesOf([finding(text, columns)], comparing(collectionOf([LAMP])), never);
      expect(change).to.deep.include({ isDeletion: true, current: LAMP, differences: [] });
      expect(change && isDone(change)).to.equal(false);
    }
  });
});

describe('long texts that differ', () => {
  it('are shown from shortly before their first difference on', () => {
    const long = 'a'.repeat(500);
    const [one, other] = excerpts(`${long}b${long}`, `${long}c`);
    expect(one).to.equal(`…${'a'.repeat(40)}b${'a'.repeat(159)}…`);
    expect(other).to.equal(`…${'a'.repeat(40)}c`);
  });

  it('are whole if they are short, and other values too', () => {
    const values = ['a'.repeat(200), { amount: 1 } satisfies JsonObject] as const;
    expect(excerpts(...values)).to.deep.equal(values);
    expect(excerpts(undefined, 'x')).to.deep.equal([undefined, 'x']);
  });
});
