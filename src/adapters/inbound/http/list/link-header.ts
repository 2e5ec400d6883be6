import type { ListPage, ListQuery, Position } from '../../../../application/records/list-query.js';
import { positionOf } from '../../../../application/records/query-semantics.js';
import type { Versioned } from '../../../../domain/record.js';
import { checkTarget, MAX_TARGET_BYTES } from '../middleware/request-limits.js';
import type { Query } from '../query/query.js';
import { encodeCursor, fingerprintOf } from './cursor.js';

/** The request of a page. */
export interface PageAddress {
  /** The name of the list, for its cursors. */
  readonly list: string;
  readonly path: string;
  readonly parameters: Query;
}

/** Longer headers do not pass common clients and proxies, which take some 16 KiB of headers in all. */
const MAX_LINK_BYTES = 12 * 1024;

/**
 * RFC 8288. Each target is complete except for the host, so that it is valid behind any proxy. If the address is very
 * long, `first` and `prev` are left out.
 * @throws HttpError `uri_too_long` if the address of the next page would be refused
 */
export function linkHeader(
  address: PageAddress,
  query: ListQuery,
  page: ListPage<Versioned<unknown>>,
): string {
  const { prev, next } = neighbours(query, page);
  const targets = {
    first: targetOf(address, query),
    prev: prev && targetOf(address, query, prev),
    next: next && targetOf(address, query, next),
  };
  if (targets.next !== undefined) checkTarget(targets.next);
  const links = Object.entries(targets)
    .filter(([, target]) => target !== undefined && target.length <= MAX_TARGET_BYTES)
    .map(([rel, target]) => `<${target}>; rel="${rel}"`);
  while (links.join(', ').length > MAX_LINK_BYTES) links.shift();
  return links.join(', ');
}

function targetOf({ list, path, parameters }: PageAddress, query: ListQuery, position?: Position): string {
  const requested = [...parameters].filter(([name]) => name !== 'limit' && name !== 'cursor');
  const cursor = position && encodeCursor(list, { position, fingerprint: fingerprintOf(query) });
  const pairs = [...requested, ['limit', String(query.limit)], ...(cursor ? [['cursor', cursor]] : [])];
  return `${path}?${pairs.map((pair) => pair.map(encode).join('=')).join('&')}`;
}

/** A colon needs no encoding in a query (RFC 3986 section 3.4), and names of filters contain many. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll('%3A', ':');
}

interface Neighbours {
  readonly prev?: Position;
  readonly next?: Position;
}

/** A page that was reached from another one has that page as a neighbour, even if it is empty by now. */
function neighbours(
  { from, order }: ListQuery,
  { records, hasMore }: ListPage<Versioned<unknown>>,
): Neighbours {
  const [first, last] = [records[0], records.at(-1)];
  if (!first || !last) return from ? wayBack(from) : {};
  const hasPrev = from?.side === 'before' ? hasMore : from !== undefined;
  const hasNext = from?.side === 'before' || hasMore;
  return {
    ...(hasPrev && { prev: positionOf(first, order, 'before') }),
    ...(hasNext && { next: positionOf(last, order, 'after') }),
  };
}

/** A record right at the position belongs to exactly one of the two pages that meet there. */
function wayBack(from: Position): Neighbours {
  const inclusive = !from.inclusive;
  return from.side === 'after'
    ? { prev: { ...from, side: 'before', inclusive } }
    : { next: { ...from, side: 'after', inclusive } };
}
