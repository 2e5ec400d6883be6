import { sampleProduct } from '#src/adapters/inbound/cli/samples.js';
import { facetNames } from '#src/adapters/inbound/http/lists/facets.js';
import { PRODUCTS } from '#src/adapters/inbound/http/resources/definitions.js';
import { fieldValue } from '#src/application/records/query-semantics.js';
import { type FieldSpec, SYSTEM_FIELDS, sortableFields } from '#src/domain/fields.js';
import type { Product } from '#src/domain/product.js';
import type { Versioned } from '#src/domain/record.js';
import { SeededRandom } from '../../tests/support/seeded-random.js';

export type ProductRecord = Versioned<Product>;

/** A list that is counted and followed some pages and back, and the facets under the same filters. */
export interface RandomList {
  /** The parameters of the list. */
  readonly list: string;
  /** How many pages are read forwards. */
  readonly pages: number;
  /** The parameters of the facets. */
  readonly facets: string;
}

/** Names and values that belong together: a range has two of them. */
type Parameters = readonly [name: string, value: string][];

const FIELDS: Readonly<Record<string, FieldSpec>> = { ...SYSTEM_FIELDS, ...PRODUCTS.fields };
const SORTABLE = sortableFields(PRODUCTS.fields).filter((name) => name !== 'id');
/** These are drawn as often as several others. */
const OFTEN = ['tags', 'tags', 'price.amount', 'price.amount', ...Array<string>(8).fill('attributes')];
const FILTERED = ['q', 'q', 'q', ...OFTEN, ...Object.keys(FIELDS)];
const NUMERIC_KEYS = ['weightGrams', 'volumeLitres', 'warrantyYears', 'widthMm'];
const KEYS = [...NUMERIC_KEYS, 'colour', 'colour', 'material', 'recyclable', 'madeIn', 'energy:class'];
const FACETS = facetNames(PRODUCTS).flatMap((name) =>
  name.includes('KEY') ? KEYS.map((key) => name.replace('KEY', key)) : [name],
);
const FIRST_INSTANT = Date.UTC(2026, 0, 1);
/** Many records share an instant, and neighbours are far apart. */
const INSTANTS = 7_919;

/** The first sample products at fixed instants out of the order of their ids, so that every run has the same. */
export function sampleRecords(count: number, firstId: number): ProductRecord[] {
  return Array.from({ length: count }, (_, at) => {
    const createdAt = FIRST_INSTANT + ((at * 31) % INSTANTS) * 1_000;
    const updatedAt = createdAt + (at % 97) * 1_000_000;
    return {
      id: firstId + at,
      version: 1,
      createdAt,
      updatedAt,
      fields: sampleProduct(1, at + 1),
    };
  });
}

/** Returns queries with every field and operator. Their values are those of the records. */
export function randomLists(count: number, seed: number, records: readonly ProductRecord[]): RandomList[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: count }, () => {
    // The first value of each filter is that of one record, so that several filters often match some.
    const values = new Values(random, random.oneOf(records), records);
    const filters = new URLSearchParams();
    const wanted = random.oneOf([0, 1, 1, 1, 1, 2, 2, 2, 3, 3]);
    for (let drawn = 0; drawn < wanted; drawn++)
      for (const [name, value] of randomFilter(random, values)) filters.set(name, value);
    const list = new URLSearchParams([...filters, ...randomSort(random)]);
    list.set('limit', `${random.oneOf([7, 24, 24, 100])}`);
    const facets = new URLSearchParams([...filters, ...randomFacets(random, values)]);
    return { list: `${list}`, pages: 1 + random.below(4), facets: `${facets}` };
  });
}

/** Values of records, as a query has them. */
class Values {
  constructor(
    private readonly random: SeededRandom,
    private readonly anchor: ProductRecord,
    private readonly records: readonly ProductRecord[],
  ) {}

  /** Those of one record, which is the same for all fields. Empty if it has none. */
  own(field: string, key?: string): string[] {
    return textsOf(this.anchor, field, key);
  }

  /** A value of any record that has one. @throws Error if hardly one has */
  any(field: string, key?: string): string {
    for (let drawn = 0; drawn < 10_000; drawn++) {
      const [text] = textsOf(this.random.oneOf(this.records), field, key);
      if (text !== undefined) return text;
    }
    throw new Error(`hardly a sample product has ${field} ${key ?? ''}`);
  }
}

function textsOf(record: ProductRecord, field: string, key?: string): string[] {
  const found: unknown = key === undefined ? fieldValue(record, field) : record.fields.attributes?.[key];
  const values = Array.isArray(found) ? found : found === undefined ? [] : [found];
  return values.map((value) =>
    FIELDS[field]?.type === 'instant' ? new Date(Number(value)).toISOString() : String(value),
  );
}

function randomFilter(random: SeededRandom, values: Values): Parameters {
  const field = random.oneOf(FILTERED);
  const spec = FIELDS[field];
  if (!spec) return [['q', randomWords(random, values)]];
  const { type, isList, required, choices, noValue = '' } = spec;
  const isAttribute = type === 'attributes';
  const key = isAttribute ? random.oneOf(KEYS) : undefined;
  const name = isAttribute ? random.oneOf([`attributes[${key}]`, `attributes.${key}`]) : field;
  if (!required && (type === 'presence' || random.chance(0.12)))
    return [[`${isAttribute ? `attributes[${key}]` : name}.exists`, `${random.chance(0.6)}`]];
  const any = () => (choices ? random.oneOf([...choices, noValue]) : values.any(field, key));
  const own = values.own(field, key)[0] ?? any();
  const among = [own, any(), any()].filter((text) => !text.includes(',')).join(',');
  const isNumber = type === 'integer' || NUMERIC_KEYS.includes(key ?? '');
  const [low = '', high = ''] = [own, any()].sort((a, b) => (isNumber ? Number(a) - Number(b) : a < b ? -1 : 1));
  const isText = type === 'text' && !choices;
  const bracketed = isAttribute ? `attributes[${key}]` : name;
  const operators: Readonly<Record<string, Parameters | false>> = {
    eq: [[name, own]],
    in: among !== '' && [[`${bracketed}.in`, among]],
    all: isList === true && [[`${name}.all`, values.own(field).slice(0, 2).join(',') || own]],
    prefix: isText && [[`${name}.prefix`, beginning(own, 1 + random.below(6))]],
    ne: !isList && !isAttribute && [[`${name}.ne`, own]],
    ...(!isList &&
      !choices &&
      (!isAttribute || isNumber) && {
        lt: [[`${bracketed}.lt`, any()]],
        gt: [[`${bracketed}.gt`, any()]],
        lte: [[`${bracketed}.lte`, high]],
        range: [
          [`${bracketed}.gte`, low],
          [`${bracketed}.lt`, high],
        ],
      }),
  };
  return random.oneOf(Object.values(operators).filter((one) => one !== false));
}

/** Words of a record, or their beginnings, down to one letter. */
function randomWords(random: SeededRandom, values: Values): string {
  const words = [...values.own('name'), ...values.own('brand'), ...values.own('tags')].join(' ').split(' ');
  const chosen = Array.from({ length: 1 + random.below(2) }, () =>
    beginning(random.oneOf(words), random.oneOf([1, 3, 5, 20])),
  ).filter((word) => /\p{L}/u.test(word));
  return chosen.join(' ') || 'black';
}

function beginning(text: string, characters: number): string {
  return [...text].slice(0, characters).join('');
}

function randomSort(random: SeededRandom): Parameters {
  const directed = (name: string) => (random.chance(0.5) ? `-${name}` : name);
  const first = random.oneOf(SORTABLE);
  const second = random.oneOf([...SORTABLE.filter((name) => name !== first), 'id', 'id']);
  const kind = random.weighted({ none: 1, id: 1, one: 4, two: 4 });
  if (kind === 'none') return [];
  const keys = { id: [directed('id')], one: [directed(first)], two: [directed(first), directed(second)] }[kind];
  return [['sort', keys.join(',')]];
}

function randomFacets(random: SeededRandom, values: Values): Parameters {
  const limit: [string, string] = ['limit', `${random.oneOf([3, 20, 100])}`];
  if (random.chance(0.7)) {
    const chosen = Array.from({ length: 1 + random.below(4) }, () => random.oneOf(FACETS));
    return [['fields', [...new Set(chosen)].join(',')], limit];
  }
  const field = random.oneOf(['brand', 'tags', 'group', 'attributes[colour]']);
  const text = field.includes('[') ? values.any('attributes', 'colour') : values.any(field);
  return [['fields', field], ['prefix', beginning(text, 1 + random.below(3))], limit];
}
