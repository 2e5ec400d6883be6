import { expect } from 'chai';
import type { Context } from '#src/adapters/inbound/http/core/context.js';
import { HttpError } from '#src/adapters/inbound/http/core/http-error.js';
import { encodeCursor, queryFingerprint } from '#src/adapters/inbound/http/lists/cursor.js';
import { ListQueryParser } from '#src/adapters/inbound/http/lists/list-operation.js';
import { readQuery } from '#src/adapters/inbound/http/parameters/query.js';
import { PRODUCTS } from '#src/adapters/inbound/http/resources/definitions.js';
import { BY_ID, type ListQuery } from '#src/application/ports/list-query.js';
import { list } from '../../../../../support/list.js';

const PARSER = new ListQueryParser('products', PRODUCTS);
const USERS_PARSER = new ListQueryParser('keys', { fields: {}, isSearchable: false, example: {} });

function parse(querystring: string, parser = PARSER): ListQuery {
  return parser.read(readQuery({ querystring } as Context, parser.parameters));
}

/** @returns the code of the error, and `code name` of each issue */
function refusal(querystring: string, parser = PARSER): string {
  try {
    parse(querystring, parser);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    const issues = error.details.map((issue) => `${issue.code} ${'name' in issue ? issue.name : ''}`);
    return [error.code, ...issues].join(', ');
  }
  return 'valid';
}

const filtersOf = (querystring: string) => parse(querystring).filters;
const invalidParameter = (...issues: string[]) => ['invalid_parameter', ...issues].join(', ');

describe('the parameters of a list', () => {
  it('have defaults', () => {
    expect(parse('')).to.deep.equal({ limit: 100, filters: [], order: BY_ID });
    expect(parse('').order).to.equal(BY_ID);
  });

  it('limit a page to 1 to 1,000 records', () => {
    for (const limit of [1, 7, 1_000]) expect(parse(`limit=${limit}`).limit).to.equal(limit);
    for (const limit of ['0', '1001', '-1'])
      expect(refusal(`limit=${limit}`)).to.equal(invalidParameter('out_of_range limit'));
    for (const limit of ['', 'x', '1.0', '1e2'])
      expect(refusal(`limit=${limit}`)).to.equal(invalidParameter('invalid_type limit'));
  });

  it('sort by fields with one value, each once', () => {
    const orderOf = (sort: string) =>
      parse(`sort=${sort}`).order.map(({ field, descending }) => (descending ? '-' : '') + field);
    expect(orderOf('name')).to.deep.equal(['name', 'id']);
    expect(orderOf('-name,createdAt')).to.deep.equal(['-name', 'createdAt', 'id']);
    expect(orderOf('-updatedAt&sort=-id,name')).to.deep.equal(['-updatedAt', '-id']);
    expect(orderOf('id')).to.deep.equal(['id']);
    for (const field of list`sku  price.amount  price.currency  brand  gtin  group  stock  status`)
      expect(orderOf(`-${field},name`)).to.deep.equal([`-${field}`, 'name', 'id']);
    for (const unknown of [
      ...list`price  tags  images  url  attributes  attributes.a  attributes[a]  description  x  +name  --name`,
      'version',
    ])
      expect(refusal(`sort=${encodeURIComponent(unknown)}`), unknown).to.equal(
        invalidParameter('unknown_field sort'),
      );
    expect(refusal('sort=')).to.equal(invalidParameter('too_short sort'));
    expect(refusal('sort=-')).to.equal(invalidParameter('too_short sort'));
    expect(refusal('sort=name,-name')).to.equal(invalidParameter('duplicate_value sort'));
    expect(refusal('sort=x,x,')).to.equal(
      invalidParameter('too_short sort', 'unknown_field sort', 'duplicate_value sort'),
    );
  });

  it('search by at most 10 words of at most 64 characters', () => {
    expect(filtersOf('q=Lamp+desk,la')).to.deep.equal([
      { field: 'q', operator: 'search', words: ['desk', 'lamp'] },
    ]);
    const words = (count: number, length = 1) =>
      Array.from({ length: count }, (_, at) => String.fromCharCode(97 + at).repeat(length)).join('+');
    expect(filtersOf(`q=${words(10)}`)).to.have.length(1);
    expect(refusal(`q=${words(11)}`)).to.equal(invalidParameter('too_long q'));
    expect(filtersOf(`q=${words(1, 64)}`)).to.have.length(1);
    expect(refusal(`q=${words(1, 65)}`)).to.equal(invalidParameter('too_long q'));
    expect(filtersOf(`q=${encodeURIComponent('𐐨'.repeat(64))}`)).to.have.length(1);
    expect(refusal(`q=${encodeURIComponent('𐐨'.repeat(65))}`)).to.equal(invalidParameter('too_long q'));
    expect(refusal(`q=${words(11, 65)}`)).to.equal(invalidParameter('too_long q', 'too_long q'));
    expect(refusal('q=')).to.equal(invalidParameter('too_short q'));
    expect(refusal('q=-')).to.equal(invalidParameter('invalid_format q'));
    expect(refusal('q=a&q=b')).to.equal(invalidParameter('duplicate_value q'));
    expect(refusal('q=a', USERS_PARSER)).to.equal('unknown_parameter, unknown_parameter q');
  });

  it('filter by texts', () => {
    for (const operator of ['ne', 'lt', 'lte', 'gt', 'gte', 'prefix'])
      for (const separator of ['.', ':'])
        expect(filtersOf(`name${separator}${operator}=a,b`)).to.deep.equal([
          { field: 'name', operator, value: 'a,b' },
        ]);
    expect(filtersOf('name=&sku=5')).to.deep.equal([
      { field: 'name', operator: 'eq', value: '' },
      { field: 'sku', operator: 'eq', value: '5' },
    ]);
  });

  it('filter by integers and times', () => {
    expect(filtersOf('price.amount=-0&id.lt=9007199254740991&price.amount:gte=-5')).to.deep.equal([
      { field: 'price.amount', operator: 'eq', value: 0 },
      { field: 'id', operator: 'lt', value: Number.MAX_SAFE_INTEGER },
      { field: 'price.amount', operator: 'gte', value: -5 },
    ]);
    expect(filtersOf('createdAt=1970-01-01T00:00:01Z')).to.deep.equal([
      { field: 'createdAt', operator: 'eq', value: 1_000 },
    ]);
    expect(refusal('id=x')).to.equal(invalidParameter('invalid_type id'));
    expect(refusal('id.ne=9007199254740992')).to.equal(invalidParameter('out_of_range id.ne'));
    expect(refusal('id.ne=-9007199254740992')).to.equal(invalidParameter('out_of_range id.ne'));
    expect(refusal('createdAt=2030')).to.equal(invalidParameter('invalid_format createdAt'));
  });

  it('filter by one of at most 100 values', () => {
    expect(filtersOf('id.in=3,-0&id:in=4')).to.deep.equal([
      { field: 'id', operator: 'in', values: [3, 0, 4] },
    ]);
    const list = (count: number) => Array.from({ length: count }, () => 1).join(',');
    expect(refusal(`id.in=${list(100)}`)).to.equal('valid');
    expect(refusal(`id.in=${list(101)}`)).to.equal(invalidParameter('too_long id.in'));
    expect(refusal('id.in=x,,y')).to.equal(invalidParameter('invalid_type id.in', 'too_short id.in'));
    expect(refusal('name.in=')).to.equal(invalidParameter('too_short name.in'));
  });

  it('filter by the presence of an optional field', () => {
    expect(filtersOf('sku.exists=true&price.amount:exists=false')).to.deep.equal([
      { field: 'sku', operator: 'exists', value: true },
      { field: 'price.amount', operator: 'exists', value: false },
    ]);
    for (const text of ['', 'True', '1'])
      expect(refusal(`sku.exists=${text}`)).to.equal(invalidParameter('invalid_format sku.exists'));
    expect(refusal('sku.exists=true&sku:exists=true')).to.equal(
      invalidParameter('duplicate_value sku:exists'),
    );
  });

  it('filter by attributes, whose keys are data', () => {
    expect(filtersOf('attributes[a.ne]=&attributes.exists=x')).to.deep.equal([
      { field: 'attributes', operator: 'attribute', key: 'a.ne', value: '' },
      { field: 'attributes', operator: 'attribute', key: 'exists', value: 'x' },
    ]);
  });

  it('compare attributes by the operators behind a bracket', () => {
    const attribute = { field: 'attributes', operator: 'attribute' };
    for (const separator of ['.', ':']) {
      for (const comparison of ['lt', 'lte', 'gt', 'gte'])
        for (const [text, number] of [
          ['7.5', 7.5],
          ['-0', 0],
          ['1e3', 1_000],
          ['1E%2B2', 100],
          ['-1.5e-2', -0.015],
          ['9007199254740991', Number.MAX_SAFE_INTEGER],
        ] as const)
          expect(filtersOf(`attributes[a.b]${separator}${comparison}=${text}`), text).to.deep.equal([
            { ...attribute, key: 'a.b', comparison, number },
          ]);
      expect(
        filtersOf(`attributes[a]${separator}exists=true&attributes[b]${separator}exists=false`),
      ).to.deep.equal([
        { ...attribute, key: 'a', exists: true },
        { ...attribute, key: 'b', exists: false },
      ]);
      expect(
        filtersOf(`attributes[a]${separator}in=x,5&attributes[a].in[]=true&attributes%5Ba%5D:in=x`),
      ).to.deep.equal([{ ...attribute, key: 'a', values: ['x', '5', 'true'] }]);
    }
    expect(Object.is((filtersOf('attributes[a].gt=-0')[0] as { number?: number }).number, 0)).to.equal(true);
    expect(filtersOf('attributes[a]=x&attributes[a].exists=true&attributes[a].gt=1')).to.have.length(3);
    expect(filtersOf('attributes[a].in]=x')).to.deep.equal([{ ...attribute, key: 'a].in', value: 'x' }]);
    expect(filtersOf('attributes[[a].in]=x')).to.deep.equal([{ ...attribute, key: '[a].in', value: 'x' }]);
    for (const key of ['a', '[', ']', '[]', 'a].in', 'a][b', '.', 'é'])
      expect(filtersOf(`attributes[${encodeURIComponent(key)}].in=x`), key).to.deep.equal([
        { ...attribute, key, values: ['x'] },
      ]);
    expect(refusal('attributes[a].lt=x')).to.equal(invalidParameter('invalid_type attributes[a].lt'));
    expect(refusal('attributes[a].gt=-9007199254740992')).to.equal(
      invalidParameter('out_of_range attributes[a].gt'),
    );
    expect(refusal('attributes[a].lt=1e999')).to.equal(invalidParameter('out_of_range attributes[a].lt'));
    expect(refusal('attributes[a].lt=1&attributes[a]:lt=1')).to.equal(
      invalidParameter('duplicate_value attributes[a]:lt'),
    );
    expect(refusal('attributes[a].in=x', USERS_PARSER)).to.match(/^unknown_parameter/);
  });

  it('are no other names', () => {
    const names = [
      ...list`x  name.x  name.exists  id.exists  id.prefix  price  price.exists  price.amount.prefix  name.  .ne  ne`,
      ...list`name.ne.ne  attributes  attributes.  attributes:a  attributesx.a  description  exists  name.eq`,
      ...list`createdAt.prefix  constructor  name.toString`,
    ];
    for (const name of names)
      expect(refusal(`${name}=1`), name).to.equal(`unknown_parameter, unknown_parameter ${name}`);
    expect(refusal('attributes.a=1', USERS_PARSER)).to.equal(
      'unknown_parameter, unknown_parameter attributes.a',
    );
  });

  it('say which values they take', () => {
    expect(() => parse('id.in=x')).to.throw('id.in takes a whole number within');
    expect(() => parse('id.in=1,')).to.throw('id.in holds an empty value');
    expect(() => parse(`name.in=${'x,'.repeat(100)}x`)).to.throw('name.in takes at most 100 values');
    expect(refusal('attributes.%zz=1')).to.equal('unknown_parameter, unknown_parameter attributes.%zz');
  });

  it('have at most 100 filters', () => {
    const filters = (count: number) =>
      Array.from({ length: count }, (_, at) => `attributes.k${at}=1`).join('&');
    expect(filtersOf(filters(100))).to.have.length(100);
    expect(refusal(filters(101))).to.equal(invalidParameter('too_long attributes.k100'));
  });

  it('continue at a cursor of the same list, sort and filters', () => {
    const position = { side: 'after', inclusive: false, values: [7] } as const;
    const cursor = (list: string, values: readonly (string | number)[] = [7], order = BY_ID) =>
      encodeCursor(list, {
        position: { ...position, values },
        fingerprint: queryFingerprint({ filters: [], order }),
      });
    expect(parse(`cursor=${cursor('products')}`)).to.deep.equal({
      limit: 100,
      filters: [],
      order: BY_ID,
      from: position,
    });
    expect(refusal(`cursor=${cursor('users')}`)).to.equal('invalid_cursor, invalid_format cursor');
    expect(refusal(`cursor=${cursor('products', ['x'])}`)).to.equal('invalid_cursor, invalid_format cursor');
    expect(refusal('cursor=')).to.equal('invalid_cursor, invalid_format cursor');
    for (const other of ['sort=-id', 'name=x'])
      expect(refusal(`cursor=${cursor('products')}&${other}`)).to.equal(
        'cursor_mismatch, invalid_format cursor',
      );
    expect(refusal('cursor=x&limit=x')).to.equal(
      invalidParameter('invalid_format cursor', 'invalid_type limit'),
    );
  });
});
