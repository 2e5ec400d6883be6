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

/** @param run a statement with its values, returns rows */
function repositoryOn(run: (text: string, values: number[][]) => readonly unknown[]) {
  const store = {
    run: async ({ text }: { text: string }, values: number[][]) => run(text, values),
    calls: {
      run: (operation: () => unknown) => operation(),
      quota: { each: (items: unknown[], operation: (item: unknown) => unknown) => Promise.all(items.map(operation)) },
    },
    operationMs: 60_000,
  };
  return new PostgresqlRepository<object>(store as never, PRODUCTS, new TableWrites(PRODUCTS));
}

const recordOf = (id: number) => ({ id, version: 2, createdAt: 0, updatedAt: 0, fields: { name: 'x' } });

/** Two callers run alone at once; those who come meanwhile share a statement. */
async function outcomesOf<Outcome>(write: (ids: number[]) => Promise<readonly Outcome[]>): Promise<unknown[]> {
  const callers = [[7], [8], [1, 2, 3], [4, 5, 6]];
  const outcomes = await Promise.all(callers.map((ids) => write(ids).catch((error: unknown) => ids.map(() => error))));
  return outcomes.flat().map((outcome) => (outcome instanceof AppError ? outcome.code : outcome));
}

describe('writes of several callers in PostgreSQL', () => {
  it('replace each record once, although a statement for all was refused', async () => {
    const errors: Readonly<Record<number, keyof typeof CODES>> = {
      2: 'deadlock',
      3: 'duplicate',
      4: 'late',
      5: 'disk',
    };
    const written: (readonly number[])[] = [];
    const repository = repositoryOn((_text, [, ids = []]) => {
      written.push(ids);
      const [id = 0, another] = ids;
      const error = another === undefined ? errors[id] : 'deadlock';
      if (error) throw errorOf(error);
      return [[id]];
    });
    const replace = (ids: number[]) => repository.replaceAll(ids.map((id) => ({ record: recordOf(id), expected: 1 })));
    expect(await outcomesOf(replace)).to.deep.equal(
      list`replaced  replaced  replaced  version_conflict  duplicate_value  unavailable  unavailable  replaced`,
    );
    expect(written).to.deep.equal([[7], [8], [1, 2, 3, 4, 5, 6], [1], [2], [3], [4], [5], [6]]);
  });

  it('replace each record once, although the second replacement of one was refused', async () => {
    const written: (readonly number[])[] = [];
    const repository = repositoryOn((_text, [, ids = []]) => {
      written.push(ids);
      if (written.length > 3) throw errorOf('late');
      return ids.map((id) => [id]);
    });
    const callers = [[7], [8], [1, 2], [2, 3]].map((ids) =>
      repository.replaceAll(ids.map((id) => ({ record: recordOf(id), expected: 1 }))),
    );
    const outcomes = (await Promise.all(callers)).flat();
    expect(outcomes.map((one) => (one instanceof AppError ? one.code : one))).to.deep.equal(
      list`replaced  replaced  replaced  replaced  unavailable  replaced`,
    );
    expect(written).to.deep.equal([[7], [8], [1, 2, 3], [2]]);
  });

  for (const [what, later, tries] of [
    ['a later try was refused', 'deadlock', 1],
    ['one is never inserted, and nothing that refuses it is found', undefined, 2],
  ] as const)
    it(`insert each record once, although ${what}`, async () => {
      const written: (readonly number[])[] = [];
      const repository = repositoryOn((text, [ids = []]) => {
        if (!text.includes('INSERT INTO products ')) return [];
        written.push(ids);
        if (later && written.length > 3) throw errorOf(later);
        return ids.filter((id) => id !== 2).map((id) => [id]);
      });
      expect(await outcomesOf((ids) => repository.insertAll(ids.map(recordOf)))).to.deep.equal(
        list`inserted  inserted  inserted  unavailable  inserted  inserted  inserted  inserted`,
      );
      expect(written).to.deep.equal([[7], [8], [1, 2, 3, 4, 5, 6], ...Array.from({ length: tries }, () => [2])]);
    });
});
