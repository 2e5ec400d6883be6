import type { Versioned } from '../../domain/record.js';
import { BACKGROUND } from '../../shared/task-scheduler.js';
import type { ListQuery } from '../ports/list-query.js';
import type { Repository } from '../ports/repository.js';
import { positionOf } from './query-semantics.js';

/** Yields the pages of a list, forwards from the query's position. Reads a page when the caller needs it. */
export async function* paginate<Fields>(
  records: Pick<Repository<Fields>, 'list'>,
  query: ListQuery,
): AsyncGenerator<readonly Versioned<Fields>[], void, void> {
  const task = (query.task ?? BACKGROUND).unlimited();
  for (let next = query; ; ) {
    const page = await records.list(next);
    yield page.records;
    const last = page.records.at(-1);
    if (!last || !page.hasMore) return;
    next = { ...query, task, from: positionOf(last, query.order, 'after') };
  }
}
