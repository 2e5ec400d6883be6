import { expect } from 'chai';
import type { Filter, Value } from '#src/application/ports/list-query.js';
import type { Repository } from '#src/application/ports/repository.js';
import { OrderedLists } from '#src/application/records/lists.js';
import { fieldValue } from '#src/application/records/query-semantics.js';
import { RECORD_TABLES, type Repositories } from '#src/composition/tables.js';
import { type Field, type FieldSpec, type FieldTable, SYSTEM_FIELDS } from '#src/domain/fields.js';
import type { Id, Versioned } from '#src/domain/record.js';
import type { JsonObject } from '#src/shared/json.js';
import { AT, by, idsOf, outcomeText, query } from './records.js';
import type { TestStore } from './test-store.js';

/** The ranks of three records by id. By every field except the id, their order is 2, 3, 1. */
const RANKS = new Map<Id, number>([
  [1, 2],
  [2, 0],
  [3, 1],
]);
const letter = (rank: number) => 'abc'.charAt(rank);

/** A record of a rank, with a value in every field. */
function fieldsOf(table: Table, rank: number): JsonObject {
  if (!('entity' in table)) return { kid: letter(rank), algorithm: 'RS256', privateJwk: '{}' };
  return rankedValues(table.entity, rank);
}

type Table = (typeof RECORD_TABLES)[keyof typeof RECORD_TABLES];

function rankedValues(table: FieldTable, rank: number): JsonObject {
  return Object.fromEntries(Object.entries(table).map(([name, field]) => [name, rankedValue(field, rank)]));
}

function rankedValue(field: Field, rank: number): unknown {
  switch (field.kind) {
    case 'text':
    case 'code':
    case 'choice':
      return letter(rank);
    case 'integer':
    case 'reference':
    case 'instant':
      return rank + 1;
    case 'attributes':
      return { a: rank };
    case 'object':
      return rankedValues(field.fields, rank);
    case 'list':
      return [rankedValue(field.of, rank)];
  }
}

/** Tests every filter and sort order of each declared field, even if the service does not offer it. */
export function everyFieldContract(store: TestStore): void {
  for (const [name, table] of Object.entries<Table>(RECORD_TABLES)) {
    const resource = name as keyof Repositories;
    const repository = () => store.all[resource] as Repository<unknown>;
    const lists = () => new OrderedLists(repository(), table.fields);
    const records = [...RANKS].map(
      ([id, rank]): Versioned<unknown> => ({
        id,
        version: 1,
        createdAt: AT + rank,
        updatedAt: AT + rank,
        fields: fieldsOf(table, rank),
      }),
    );
    const list = async (sort: string, filters: Filter[] = []) =>
      idsOf((await lists().list(query({ order: by(sort), filters }))).records);

    for (const [field, spec] of Object.entries({ ...table.fields, ...SYSTEM_FIELDS })) {
      const filters = filtersOf(field, spec, records);

      describe(`${field} of ${table.name}`, () => {
        it('filters and sorts with every operator, in an empty store and among three records', async () => {
          const sorts = isSortable(spec) ? sortsBy(field) : [];
          for (const [filter] of filters) {
            expect(await list('id', [filter]), filter.operator).to.deep.equal([]);
            expect(await repository().count([filter]), filter.operator).to.equal(0);
          }
          for (const sort of sorts) expect(await list(sort)).to.deep.equal([]);
          await repository().insertAll(records);
          for (const [filter, ids] of filters) {
            expect(await list('id', [filter]), filter.operator).to.deep.equal(ids);
            expect(await repository().count([filter]), filter.operator).to.equal(ids.length);
          }
          const ascending = field === 'id' ? [1, 2, 3] : [2, 3, 1];
          for (const sort of sorts) {
            const all = sort.startsWith('-') ? ascending.toReversed() : ascending;
            expect(await list(sort), sort).to.deep.equal(all);
            for (const [filter, ids] of filters) {
              const expected = all.filter((id) => ids.includes(id));
              expect(await list(sort, [filter]), `${sort} ${filter.operator}`).to.deep.equal(expected);
            }
          }
          if (!spec.unique) return;
          const values = records.map((record) => fieldValue(record, field) ?? '');
          const reversed = records.toReversed();
          expect(await repository().findAllByUnique(field, values.toReversed())).to.deep.equal(reversed);
          for (const [at, value] of values.entries())
            expect(await repository().findByUnique(field, value)).to.deep.equal(records[at]);
        });

        if (spec.unique && field !== 'id')
          it('refuses the value of another record', async () => {
            const [one, other] = records as [Versioned<object>, Versioned<object>];
            await repository().insertAll([one]);
            const value = fieldValue(one, field);
            const again = repository().insertAll([{ ...other, fields: { ...other.fields, [field]: value } }]);
            expect((await again).map(outcomeText)).to.deep.equal([`duplicate_value /${field}`]);
          });
      });
    }
  }
}

function isSortable({ type, isList }: FieldSpec): boolean {
  return type !== 'attributes' && type !== 'presence' && !isList;
}

function sortsBy(field: string): string[] {
  return field === 'id' ? ['id', '-id'] : [`${field},id`, `-${field},-id`, `${field},-id`];
}

/** A filter of each operator with the value of the third record, and the ids that match. */
function filtersOf(
  field: string,
  { type, isList, required }: FieldSpec,
  records: readonly Versioned<unknown>[],
): [Filter, Id[]][] {
  if (type === 'attributes') {
    const attribute = { field: 'attributes', operator: 'attribute', key: 'a' } as const;
    return [
      [{ ...attribute, value: '1' }, [3]],
      [{ ...attribute, values: ['1', 'x'] }, [3]],
      [{ ...attribute, exists: true }, [1, 2, 3]],
      [{ ...attribute, exists: false }, []],
      [{ ...attribute, comparison: 'lt', number: 1 }, [2]],
      [{ ...attribute, comparison: 'lte', number: 1 }, [2, 3]],
      [{ ...attribute, comparison: 'gt', number: 1 }, [1]],
      [{ ...attribute, comparison: 'gte', number: 1 }, [1, 3]],
    ];
  }
  const existence: [Filter, Id[]][] = [
    [{ field, operator: 'exists', value: true }, [1, 2, 3]],
    [{ field, operator: 'exists', value: false }, []],
  ];
  if (type === 'presence') return existence;
  const own: unknown = fieldValue(records[2] as Versioned<unknown>, field) ?? '';
  const [value] = (Array.isArray(own) ? own : [own]) as [Value];
  if (isList)
    return [
      ...existence,
      [{ field, operator: 'eq', value }, [3]],
      [{ field, operator: 'in', values: [value] }, [3]],
      [{ field, operator: 'prefix', value }, [3]],
    ];
  const [below, above] = field === 'id' ? [[1, 2], []] : [[2], [1]];
  return [
    ...(required ? [] : existence),
    [{ field, operator: 'eq', value }, [3]],
    [{ field, operator: 'in', values: [value] }, [3]],
    [{ field, operator: 'ne', value }, [1, 2]],
    [{ field, operator: 'lt', value }, below],
    [{ field, operator: 'lte', value }, [...below, 3]],
    [{ field, operator: 'gt', value }, above],
    [{ field, operator: 'gte', value }, [...above, 3]],
    ...(type === 'text' ? [[{ field, operator: 'prefix', value }, [3]] satisfies [Filter, Id[]]] : []),
  ];
}
