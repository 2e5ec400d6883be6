import { type AppError, DuplicateValue } from '../../domain/errors.js';
import type { Versioned } from '../../domain/record.js';
import type { Value } from '../ports/list-query.js';
import type { Repository } from '../ports/repository.js';
import { fieldValue } from './query-semantics.js';
import { isRehearsed } from './rehearsed-records.js';

/** A record that a store refused, because another one has its value of a unique field. */
export interface RefusedRecord {
  readonly record: Versioned<unknown>;
  readonly error: DuplicateValue;
}

/**
 * Returns each error with the id of the other record; unchanged if that record is gone meanwhile, or is that of a dry
 * run.
 * @throws AppError `unavailable`
 */
export async function withOwners(
  records: Pick<Repository<unknown>, 'findAllByUnique'>,
  refused: readonly RefusedRecord[],
): Promise<readonly DuplicateValue[]> {
  const named = new Map<RefusedRecord, DuplicateValue>();
  for (const field of new Set(refused.map(({ error }) => error.field))) {
    const rivals = refused.filter(({ error }) => error.field === field);
    const owners = await records.findAllByUnique(
      field,
      rivals.map(({ record }) => valueIn(record, field)),
    );
    for (const [at, rival] of rivals.entries()) {
      const id = owners[at]?.id;
      if (id !== undefined && !isRehearsed(id)) named.set(rival, rival.error.ownedBy(id));
    }
  }
  return refused.map((rival) => named.get(rival) ?? rival.error);
}

function valueIn(record: Versioned<unknown>, field: string): Value {
  const value = fieldValue(record, field);
  if (value === undefined) throw new Error(`A record without ${field} was refused because of it.`);
  return value;
}

/** The error with the id of the other record, if it is about a value that only one record can have. */
export async function withOwner(
  records: Pick<Repository<unknown>, 'findAllByUnique'>,
  record: Versioned<unknown>,
  error: AppError,
): Promise<AppError> {
  if (!(error instanceof DuplicateValue)) return error;
  const [named] = await withOwners(records, [{ record, error }]);
  return named ?? error;
}
