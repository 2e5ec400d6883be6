import fc from 'fast-check';
import type { ListQuery, Position, SortOrder, Value } from '#src/application/ports/list-query.js';
import type { FieldSpecs } from '#src/domain/fields.js';
import { MAX_ID, type Versioned } from '#src/domain/record.js';
import {
  AMOUNT,
  type AnyFacets,
  anyFacets,
  anyFilters,
  anyOrder,
  INSTANT,
  type ResourceGenerator,
  type Values,
  valuesOf,
} from './query-scenarios.js';

/** More records than a store reads in one slice. */
const MIN_COUNT = 300;
const MAX_COUNT = 1_500;

export interface LargeScenario<Fields> {
  readonly records: readonly Versioned<Fields>[];
  readonly queries: readonly (ListQuery & { readonly facets: AnyFacets })[];
  /** Milliseconds by which each reading moves the clock, in rotation, so that stores read slices of different sizes. */
  readonly steps: readonly number[];
}

/** Scenarios with so few different records that hundreds of them tie. */
export function largeScenarios<Fields>(
  generator: ResourceGenerator<Fields>,
  letters: readonly string[],
): fc.Arbitrary<LargeScenario<Fields>> {
  return fewValues(letters).chain((values) =>
    fc.record({
      records: manyRecords(generator, values),
      queries: fc.array(largeQuery(generator, values), { minLength: 1, maxLength: 4, size: 'max' }),
      steps: fc.array(fc.constantFrom(0, 0.5, 5), { minLength: 1, maxLength: 50, size: 'max' }),
    }),
  );
}

function fewValues(letters: readonly string[]): fc.Arbitrary<Values> {
  const few = (text: fc.Arbitrary<string>) =>
    fc.array(text, { minLength: 1, maxLength: 3 }).map((texts) => fc.constantFrom(...texts));
  return valuesOf(letters).chain(({ text, prose, number }) =>
    fc.tuple(few(text), few(prose)).map(([text, prose]) => ({ text, prose, number })),
  );
}

function manyRecords<Fields>(generator: ResourceGenerator<Fields>, values: Values): fc.Arbitrary<Versioned<Fields>[]> {
  const kind = fc.record({ fields: generator.record(values), createdAt: INSTANT, updatedAt: INSTANT });
  return fc.array(kind, { minLength: 1, maxLength: 8 }).chain((kinds) =>
    fc.array(fc.constantFrom(...kinds), { minLength: MIN_COUNT, maxLength: MAX_COUNT, size: 'max' }).map((all) =>
      all.map(({ fields, ...at }, index) => ({
        id: index + 1,
        version: 1,
        ...at,
        fields: generator.distinct(fields, `${index}`),
      })),
    ),
  );
}

function largeQuery<Fields>(
  { fields }: ResourceGenerator<Fields>,
  values: Values,
): fc.Arbitrary<ListQuery & { readonly facets: AnyFacets }> {
  const limit = fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 5 }));
  const number = fc.nat(MAX_COUNT).map(String);
  const text = fc.oneof(
    { weight: 3, arbitrary: values.text },
    fc.tuple(values.text, number).map((parts) => parts.join('')),
  );
  return anyOrder(fields).chain((order) =>
    fc
      .record({
        limit,
        filters: anyFilters(fields, { ...values, text }, ID),
        from: fc.option(anyPosition(fields, order, text), { nil: undefined }),
        facets: anyFacets(fields, values),
      })
      .map(({ from, ...query }) => ({ ...query, order, ...(from && { from }) })),
  );
}

const ID = fc.oneof(fc.nat(MAX_COUNT + 100), fc.constantFrom(0, MAX_ID));

/** A position at a record, without a record, or beyond all records. */
function anyPosition(fields: FieldSpecs, order: SortOrder, text: fc.Arbitrary<string>): fc.Arbitrary<Position> {
  const anyText = fc.oneof({ weight: 5, arbitrary: text }, fc.constantFrom('', '\u{10ffff}'));
  const moment = fc.oneof({ weight: 5, arbitrary: INSTANT }, INSTANT.map(aSecondAway));
  const value = (field: string): fc.Arbitrary<Value | null> => {
    if (field === 'id') return ID;
    if (field === 'createdAt' || field === 'updatedAt') return moment;
    const present: fc.Arbitrary<Value> = fields[field]?.type === 'text' ? anyText : AMOUNT;
    return fields[field]?.required ? present : fc.option(present, { nil: null });
  };
  return fc.record({
    side: fc.constantFrom('after', 'before'),
    inclusive: fc.boolean(),
    values: fc.tuple(...order.map(({ field }) => value(field))),
  });
}

/** One second earlier if the instant is even, otherwise one second later. */
function aSecondAway(instant: number): number {
  return instant + (instant % 2 === 0 ? -1_000 : 1_000);
}
