import type { Versioned } from '../../domain/record.js';
import type { Repository } from '../ports/repository.js';
import type { ListQuery } from './list-query.js';
import { positionOf } from './query-semantics.js';

/** The pages of a list from the query's position on, forwards. The next page is read when it is asked for. */
export async function* paginate<Fields>(
  records: Pick<Repository<Fields>, 'list'>,
  query: ListQuery,
): AsyncGenerator<readonly Versioned<Fields>[], void, void> {
  for (let next = query; ; ) {
    const page = await records.list(next);
    yield page.records;
    const last = page.records.at(-1);
    if (!last || !page.hasMore) return;
    next = { ...query, isContinuation: true, from: positionOf(last, query.order, 'after') };
  }
}
