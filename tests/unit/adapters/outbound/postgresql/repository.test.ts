import { expect } from 'chai';
import pg from 'pg';
import { TableWrites } from '#src/adapters/outbound/postgresql/columns.js';
import { translateError } from '#src/adapters/outbound/postgresql/errors.js';
import { PostgresqlRepository } from '#src/adapters/outbound/postgresql/repository.js';
import { AppError } from '#src/domain/errors.js';
import { list } from '../../../../support/list.js';
import { PRODUCTS } from '../../../../support/tables.js';

const CODES = { duplicate: '23505', deadlock: '40P01', late: '57014', disk: '53100' };

function errorOf(kind: keyof typeof CODES): unknown {
  return translateError(
    Object.assign(new pg.DatabaseError('', 0, 'error'), { code: CODES[kind], constraint: 'products_sku' }),
  );
}

describe('replacements in PostgreSQL', () => {
  it('have an outcome each if a statement for all is refused, and none is written again', async () => {
    const errors: Readonly<Record<number, keyof typeof CODES>> = {
      2: 'deadlock',
      3: 'duplicate',
      4: 'late',
      5: 'disk',
    };
    const written: number[][] = [];
    const store = {
      run: async (_statement: unknown, [, ids]: number[][]) => {
        written.push(ids as number[]);
        const [id = 0, another] = ids as number[];
        const error = another === undefined ? errors[id] : 'deadlock';
        if (error) throw errorOf(error);
        return [[id]];
      },
      calls: {
        run: (operation: () => unknown) => operation(),
        quota: { each: (items: unknown[], operation: (item: unknown) => unknown) => Promise.all(items.map(operation)) },
      },
      operationMs: 60_000,
    };
    const repository = new PostgresqlRepository<object>(store as never, PRODUCTS, new TableWrites(PRODUCTS));
    const replace = (ids: number[]) =>
      repository.replaceAll(
        ids.map((id) => ({
          record: { id, version: 2, createdAt: 0, updatedAt: 0, fields: { name: 'x' } },
          expected: 1,
        })),
      );
    // The first two callers run alone; those who come meanwhile share a statement.
    const callers = [[7], [8], [1, 2, 3], [4, 5, 6]].map(replace);
    const outcomes = (await Promise.all(callers)).flat();
    expect(outcomes.map((one) => (one instanceof AppError ? one.code : one))).to.deep.equal(
      list`replaced  replaced  replaced  version_conflict  duplicate_value  unavailable  unavailable  replaced`,
    );
    expect(written).to.deep.equal([[7], [8], [1, 2, 3, 4, 5, 6], [1], [2], [3], [4], [5], [6]]);
  });
});
