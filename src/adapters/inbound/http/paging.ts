import { BY_ID, type ListPage, type ListPlace, type ListQuery } from '../../../application/list-query.js';
import type { Fault } from '../../../domain/errors.js';
import { type Id, MAX_ID } from '../../../domain/record.js';
import { decodeCursor, encodeCursor } from './cursor.js';
import { invalid, type Parameter, type Query } from './query.js';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
const WHOLE_NUMBER = /^-?(?:0|[1-9]\d*)$/;

const LIMIT: Parameter = {
  name: 'limit',
  fault: (text) => {
    const code: Fault['code'] = WHOLE_NUMBER.test(text) ? 'out_of_range' : 'invalid_type';
    if (code === 'out_of_range' && Number(text) >= 1 && Number(text) <= MAX_LIMIT) return undefined;
    return invalid('limit', code, `takes a whole number from 1 to ${MAX_LIMIT}`);
  },
};

export function pageParameters(list: string): Parameter[] {
  const cursor: Parameter = {
    name: 'cursor',
    code: 'invalid_cursor',
    fault: (text) =>
      decodeCursor(list, text)
        ? undefined
        : invalid('cursor', 'invalid_format', 'is not one that this list gave'),
  };
  return [LIMIT, cursor];
}

/** @param query one that {@link pageParameters} found no fault with */
export function readPaging(list: string, query: Query): ListQuery {
  const limit = Number(query.get('limit') ?? DEFAULT_LIMIT);
  const from = decodeCursor(list, query.get('cursor') ?? '');
  return { limit, filters: [], order: BY_ID, ...(from && { from }) };
}

/** RFC 8288. Each target is complete but for the host, so that it holds behind any proxy. */
export function linkHeader(
  list: string,
  path: string,
  query: ListQuery,
  page: ListPage<{ readonly id: Id }>,
): string {
  const link = (rel: string, place?: ListPlace) => {
    const cursor = place ? `&cursor=${encodeCursor(list, place)}` : '';
    return `<${path}?limit=${query.limit}${cursor}>; rel="${rel}"`;
  };
  const { prev, next } = neighbours(query, page);
  return [link('first'), ...(prev ? [link('prev', prev)] : []), ...(next ? [link('next', next)] : [])].join(
    ', ',
  );
}

interface Neighbours {
  readonly prev?: ListPlace;
  readonly next?: ListPlace;
}

/** A page that was reached from another has that one for a neighbour, also when it is empty by now. */
function neighbours({ from }: ListQuery, { records, hasMore }: ListPage<{ readonly id: Id }>): Neighbours {
  const [first, last] = [records[0], records.at(-1)];
  const hasPrev = from?.side === 'before' ? hasMore : from !== undefined;
  const hasNext = from?.side === 'before' || hasMore;
  const firstId = first?.id ?? Math.min(Number(from?.values[0] ?? 0) + 1, MAX_ID);
  const lastId = last?.id ?? Math.max(Number(from?.values[0] ?? 0) - 1, 0);
  return {
    ...(hasPrev && { prev: { side: 'before', inclusive: false, values: [firstId] } }),
    ...(hasNext && { next: { side: 'after', inclusive: false, values: [lastId] } }),
  };
}
