import fc from 'fast-check';
import type {
  FacetField,
  FacetQuery,
  Filter,
  ListQuery,
  SearchFilter,
  SortKey,
  SortOrder,
} from '#src/application/ports/list-query.js';
import { type Attributes, type FieldSpecs, SYSTEM_FIELDS, sortableFields } from '#src/domain/fields.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Instant } from '#src/domain/record.js';
import type { User } from '#src/domain/user.js';
import { searchFor } from '../support/reference-search.js';
import { TEXTS } from '../support/unicode-texts.js';

/** Letters with a meaning in databases, or with another order in UTF-16; neighbours are easily confused. */
export const LETTERS = [
  ...['a', 'A', 'b', 'B', 'Z', 'z', '{', '[', 'e', 'é', '\u0301', 'ß', 'İ', 'k', '\u212a', '日'],
  ...['%', '_', '.', '*', '$', '\\', "'", '"', ' ', '/', ':', '0', '1', '-'],
  ...['\ud7ff', '\ue000', '😀', '\uffff', '\u{10ffff}'],
];

/** One write of a scenario. A `stale` write expects another version than the current one. */
export type Write<Fields> =
  | {
      readonly write: 'insert' | 'replace';
      readonly id: Id;
      readonly fields: Fields;
      readonly at: Instants;
      readonly stale: boolean;
    }
  | { readonly write: 'remove'; readonly id: Id; readonly stale: boolean };

interface Instants {
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export type AnyQuery = Pick<ListQuery, 'limit' | 'filters' | 'order'> & { readonly facets: AnyFacets };

export type AnyFacets = Pick<FacetQuery, 'fields' | 'limit' | 'prefix'> | undefined;

export interface Scenario<Fields> {
  readonly writes: readonly Write<Fields>[];
  readonly queries: readonly AnyQuery[];
}

/** The generators of field values. */
export interface Values {
  readonly text: fc.Arbitrary<string>;
  /** Texts in many scripts, whose words a search finds. */
  readonly prose: fc.Arbitrary<string>;
  /** The numbers of attributes. */
  readonly number: fc.Arbitrary<number>;
}

/** Generates the records of a resource. */
export interface ResourceGenerator<Fields> {
  readonly fields: FieldSpecs;
  record(values: Values): fc.Arbitrary<Fields>;
  /** The fields, with this suffix on each unique field. */
  distinct(fields: Fields, suffix: string): Fields;
}

export const PRODUCT: (fields: FieldSpecs) => ResourceGenerator<Product> = (fields) => ({
  fields,
  record: ({ text, prose, number }) =>
    fc.record(
      {
        name: text,
        description: prose,
        sku: text,
        price: fc.record({ amount: AMOUNT, currency: fc.constantFrom('EUR', 'USD') }),
        attributes: attributes(fc.oneof(text, prose), number),
        status: fc.constantFrom('draft', 'archived'),
        tags: fc.uniqueArray(fc.oneof(text, TAG), { minLength: 1, maxLength: 5 }),
        images: fc.constant([{ url: 'https://example.com/1.jpg' }]),
        url: fc.constant('https://example.com'),
        brand: text,
        gtin: GTIN,
        group: fc.oneof(text, fc.constantFrom('g', 'h')),
        stock: AMOUNT,
      },
      { requiredKeys: ['name'] },
    ),
  distinct: (product, suffix) => (product.sku === undefined ? product : { ...product, sku: `${product.sku}${suffix}` }),
});

export const USER: (fields: FieldSpecs) => ResourceGenerator<User> = (fields) => ({
  fields,
  record: ({ text, prose }) => fc.record({ name: fc.oneof(text, prose), email: text }),
  distinct: (user, suffix) => ({ ...user, email: `${user.email}${suffix}` }),
});

const TAG = fc.constantFrom('a', 'a/b', 'a/b/c', 'b', '"', '\\');
const GTIN = fc.constantFrom('4006381333931', '96385074', '036000291452');
export const AMOUNT = fc.constantFrom(0, 1, 2, 10, Number.MAX_SAFE_INTEGER);
export const INSTANT = fc.integer({ min: 1_767_323_045_678, max: 1_767_323_045_681 });
const ID = fc.oneof({ weight: 20, arbitrary: fc.integer({ min: 1, max: 30 }) }, fc.constant(2 ** 53 - 1));
const KEYS = ['a.b', '$a', 'constructor', 'a"b'];
/** A record has these keys rarely or never. */
const RARE_KEYS = ['', 'toString', 'a\\b', '[0]', 'x'.repeat(2_000)];
const NUMBERS = [0, 1, 1.5, 100, 1e-7, 2 ** 53 - 1];
const DECIMAL = fc
  .double({ min: -(2 ** 53 - 1), max: 2 ** 53 - 1, noNaN: true })
  .map((number) => (number === 0 ? 0 : number));

/** Scenarios whose texts have only a few different letters, so that they are often equal or share a prefix. */
export function scenarios<Fields>(
  generator: ResourceGenerator<Fields>,
  letters: readonly string[],
): fc.Arbitrary<Scenario<Fields>> {
  return valuesOf(letters).chain((values) =>
    fc.record({
      writes: fc.array(write(generator.record(values)), { minLength: 1, maxLength: 40, size: 'max' }),
      queries: fc.array(anyQuery(generator.fields, values), { minLength: 1, maxLength: 40, size: 'max' }),
    }),
  );
}

export interface SearchScenario<Fields> {
  readonly writes: readonly Write<Fields>[];
  /** Each has a word. */
  readonly texts: readonly string[];
}

/** Scenarios whose queries are texts, for a comparison with the definition of a search. */
export function searchScenarios<Fields>(
  generator: ResourceGenerator<Fields>,
  letters: readonly string[],
): fc.Arbitrary<SearchScenario<Fields>> {
  return valuesOf(letters).chain((values) => {
    const text = searchedText(values).filter((one) => searchFor(one).words.length > 0);
    return fc.record({
      writes: fc.array(write(generator.record(values)), { minLength: 1, maxLength: 40, size: 'max' }),
      texts: fc.array(text, { minLength: 1, maxLength: 10, size: 'max' }),
    });
  });
}

export function valuesOf(letters: readonly string[]): fc.Arbitrary<Values> {
  return fc.tuple(fewOf(letters), fc.array(DECIMAL, { minLength: 1, maxLength: 3 })).map(([few, decimals]) => ({
    text: fc.string({ unit: fc.constantFrom(...few), maxLength: 3 }),
    prose: PROSE,
    number: fc.constantFrom(...NUMBERS, ...decimals),
  }));
}

/** No record has a text with another control character than these. */
const PROSE = TEXTS.map((text) => text.replaceAll(/[^\P{Cc}\t\n\r]/gu, ' '));

/** A few letters: random ones, or neighbours. */
function fewOf(letters: readonly string[]): fc.Arbitrary<readonly string[]> {
  const any = fc.shuffledSubarray([...letters], { minLength: 2, maxLength: 4 });
  const neighbours = fc.nat(letters.length - 3).map((at) => letters.slice(at, at + 3));
  return fc.oneof(neighbours, any);
}

function write<Fields>(fields: fc.Arbitrary<Fields>): fc.Arbitrary<Write<Fields>> {
  const stale = fc.nat(9).map((n) => n === 9);
  const at = fc.record({ createdAt: INSTANT, updatedAt: INSTANT });
  const put = (kind: 'insert' | 'replace') => fc.record({ write: fc.constant(kind), id: ID, fields, at, stale });
  return fc.oneof(
    { weight: 5, arbitrary: put('insert') },
    { weight: 2, arbitrary: put('replace') },
    { weight: 1, arbitrary: fc.record({ write: fc.constant('remove' as const), id: ID, stale }) },
  );
}

function anyQuery(fields: FieldSpecs, values: Values): fc.Arbitrary<AnyQuery> {
  return fc.record({
    limit: fc.integer({ min: 1, max: 5 }),
    filters: anyFilters(fields, values),
    order: anyOrder(fields),
    facets: anyFacets(fields, values),
  });
}

export function anyFilters(fields: FieldSpecs, values: Values, id = ID): fc.Arbitrary<readonly Filter[]> {
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 4, arbitrary: fc.array(anyFilter(fields, values, id), { minLength: 1, maxLength: 3 }) },
  );
}

export function anyOrder(fields: FieldSpecs): fc.Arbitrary<SortOrder> {
  const sortable = sortableFields(fields).filter((name) => name !== 'id');
  const keys = fc.shuffledSubarray(sortable, { maxLength: 3 }).map((names) => [...names, 'id']);
  return fc
    .tuple(keys, fc.tuple(fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean()))
    .map(([names, directions]) => names.map((field, at): SortKey => ({ field, descending: directions[at] === true })));
}

function anyFilter(fields: FieldSpecs, values: Values, id: fc.Arbitrary<Id>): fc.Arbitrary<Filter> {
  const { text } = values;
  const all = Object.entries({ ...fields, ...SYSTEM_FIELDS });
  const optional = all.flatMap(([field, { type, required }]) => (required || type === 'attributes' ? [] : [field]));
  return fc.oneof(
    { weight: 3, arbitrary: anySearch(values) },
    ...(optional.length > 0 ? [existence(optional)] : []),
    ...all.flatMap(([field, { type, isList }]) => {
      if (type === 'presence') return [];
      if (type === 'attributes') return Array.from({ length: 4 }, () => attributeFilter(values));
      if (isList) return Array.from({ length: 3 }, () => listFilter(field, fc.oneof(text, TAG)));
      if (type === 'text') return [comparison(field, TEXTS_OF[field] ?? text, true)];
      if (type === 'instant')
        return [
          comparison(
            field,
            fc.oneof(
              INSTANT,
              INSTANT.map((ms) => ms + 0.5),
              fc.constantFrom(-62_135_596_800_000, 0.5, 253_402_300_799_999),
            ),
          ),
        ];
      return [comparison(field, field === 'id' ? id : AMOUNT)];
    }),
  );
}

function anySearch(values: Values): fc.Arbitrary<SearchFilter> {
  return searchedText(values)
    .map(searchFor)
    .filter(({ words }) => words.length > 0);
}

/** Whole texts, or one or two characters of them. */
function searchedText({ text, prose }: Values): fc.Arbitrary<string> {
  const part = fc.tuple(fc.oneof(text, prose), fc.nat(7), fc.integer({ min: 1, max: 2 })).map(([whole, at, length]) =>
    [...whole]
      .slice(at % ([...whole].length || 1))
      .slice(0, length)
      .join(''),
  );
  const two = fc.tuple(part, part).map((parts) => parts.join(' '));
  return fc.oneof({ weight: 3, arbitrary: part }, prose, two);
}

function existence(optional: readonly string[]): fc.Arbitrary<Filter> {
  return fc.oneof(
    fc.record({ field: fc.constantFrom(...optional), operator: fc.constant('exists' as const), value: fc.boolean() }),
    fc.record({
      field: fc.constantFrom('status', 'price.currency'),
      operator: fc.constant('inOrNone' as const),
      values: fc.array(fc.constantFrom('draft', 'archived', 'EUR', ''), { minLength: 1, maxLength: 3 }),
    }),
  );
}

/** Values, and beginnings of values, of the fields that have only a few. */
const TEXTS_OF: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'price.currency': fc.constantFrom('EUR', 'USD', 'E', 'eur', ''),
  status: fc.constantFrom('draft', 'archived', 'd', ''),
  gtin: fc.oneof(GTIN, fc.constantFrom('4', '96', '00', '', '0036000291452', '00000096385074')),
};

/** Of a list. */
function listFilter(field: string, value: fc.Arbitrary<string>): fc.Arbitrary<Filter> {
  const operator = fc.constantFrom('eq' as const, 'eq' as const, 'prefix' as const);
  return fc.oneof(
    { weight: 3, arbitrary: fc.record({ field: fc.constant(field), operator, value }) },
    fc.record({ field: fc.constant(field), operator: fc.constant('in' as const), values: someValues(value) }),
  );
}

/** A few values, or more than a statement lists one by one. */
function someValues<Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value[]> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.array(value, { maxLength: 5 }) },
    fc.array(value, { minLength: 90, maxLength: 100, size: 'max' }),
  );
}

function comparison(field: string, value: fc.Arbitrary<string | number>, hasPrefix = false): fc.Arbitrary<Filter> {
  const operators = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte'] as const;
  const operator = fc.constantFrom(...operators, ...(hasPrefix ? (['prefix', 'prefix'] as const) : []));
  return fc.oneof(
    { weight: 6, arbitrary: fc.record({ field: fc.constant(field), operator, value }) },
    {
      weight: 1,
      arbitrary: fc.record({
        field: fc.constant(field),
        operator: fc.constant('in' as const),
        values: fc.array(value, { maxLength: 5 }),
      }),
    },
  );
}

function attributeFilter({ text, number }: Values): fc.Arbitrary<Filter> {
  const value = fc.oneof(
    { weight: 2, arbitrary: fc.oneof(number.map(String), fc.constantFrom('true', 'false')) },
    fc.constantFrom('1e2', '1.50', '', '0.0000001'),
    text,
  );
  const comparison = fc.constantFrom('lt' as const, 'lte' as const, 'gt' as const, 'gte' as const);
  const test = fc.oneof(
    { weight: 3, arbitrary: fc.record({ value }) },
    fc.record({ values: fc.array(value, { maxLength: 4 }) }),
    { weight: 2, arbitrary: fc.record({ comparison, number }) },
    fc.record({ exists: fc.boolean() }),
  );
  return fc
    .tuple(attributeKey(text), test)
    .map(([key, one]) => ({ field: 'attributes', operator: 'attribute', key, ...one }));
}

function attributeKey(text: Values['text']): fc.Arbitrary<string> {
  return fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...KEYS) }, text, fc.constantFrom(...RARE_KEYS));
}

/** Requests for facets; none for a resource without. */
export function anyFacets(fields: FieldSpecs, { text }: Values): fc.Arbitrary<AnyFacets> {
  const faceted = Object.keys(fields).filter((field) => fields[field]?.faceted);
  if (faceted.length === 0) return fc.constant(undefined);
  const field = fc
    .constantFrom(...faceted)
    .chain(
      (name): fc.Arbitrary<FacetField> =>
        fields[name]?.type === 'attributes'
          ? attributeKey(text).map((key) => ({ field: name, key }))
          : fc.constant({ field: name }),
    );
  return fc.record({
    fields: fc.array(field, { minLength: 1, maxLength: 3 }),
    limit: fc.integer({ min: 1, max: 4 }),
    prefix: fc.option(fc.oneof(text, TAG), { nil: undefined }),
  });
}

function attributes(text: Values['text'], number: Values['number']): fc.Arbitrary<Attributes> {
  const key = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...KEYS) },
    text.map((one) => one || 'empty'),
  );
  const written = fc.oneof(number.map(String), fc.constant('true'));
  const value = fc.oneof({ weight: 2, arbitrary: number }, written, fc.boolean(), text);
  return fc.dictionary(key, value, { minKeys: 1, maxKeys: 4, noNullPrototype: true });
}
