import type { ListPlace, ListQuery } from '../../../application/list-query.js';
import type { Fault } from '../../../domain/errors.js';
import type { Id } from '../../../domain/record.js';
import { decodeCursor, encodeCursor } from './cursor.js';
import { invalidParameters } from './faults.js';
import { invalid, type Query } from './query.js';

export const PAGE_PARAMETERS = ['limit', 'cursor'];

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
const WHOLE_NUMBER = /^(?:0|[1-9]\d*)$/;

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly prev?: ListPlace;
  readonly next?: ListPlace;
}

/** @throws CatalogueError `invalid_parameter`, `invalid_cursor` */
export function readPaging(list: string, query: Query): ListQuery {
  const limit = readLimit(query.get('limit'));
  const cursor = query.get('cursor');
  return cursor === undefined ? { limit } : { limit, from: decodeCursor(list, cursor) };
}

/** One more than the page holds, so that it shows whether another page follows. */
export function oneMore(query: ListQuery): ListQuery {
  return { ...query, limit: query.limit + 1 };
}

/** @param found what the store answered to {@link oneMore} */
export function pageOf<Item extends { readonly id: Id }>(
  query: ListQuery,
  found: readonly Item[],
): Page<Item> {
  const backwards = query.from?.side === 'before';
  const hasMore = found.length > query.limit;
  const items = backwards ? found.slice(hasMore ? 1 : 0) : found.slice(0, query.limit);
  const first = items[0];
  const last = items.at(-1);
  const hasPrev = backwards ? hasMore : query.from !== undefined;
  const hasNext = backwards || hasMore;
  return {
    items,
    ...(hasPrev && first && { prev: { side: 'before', id: first.id } }),
    ...(hasNext && last && { next: { side: 'after', id: last.id } }),
  };
}

/** RFC 8288. Each target is complete but for the host, so that it holds behind any proxy. */
export function linkHeader(list: string, path: string, limit: number, page: Page<unknown>): string {
  const link = (rel: string, place?: ListPlace) => {
    const cursor = place ? `&cursor=${encodeCursor(list, place)}` : '';
    return `<${path}?limit=${limit}${cursor}>; rel="${rel}"`;
  };
  return [
    link('first'),
    ...(page.prev ? [link('prev', page.prev)] : []),
    ...(page.next ? [link('next', page.next)] : []),
  ].join(', ');
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const code: Fault['code'] = WHOLE_NUMBER.test(text) ? 'out_of_range' : 'invalid_type';
  const limit = Number(text);
  if (code === 'out_of_range' && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw invalidParameters([invalid('limit', code, `takes a whole number from 1 to ${MAX_LIMIT}`)]);
}
