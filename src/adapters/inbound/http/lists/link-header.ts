import type { ListPage, ListQuery, Position } from '../../../../application/ports/list-query.js';
import { positionOf } from '../../../../application/records/query-semantics.js';
import type { PageQuery } from '../../../../application/records/record-service.js';
import type { Versioned } from '../../../../domain/record.js';
import type { PublicUrl } from '../../../../shared/public-url.js';
import type { Query } from '../core/parameter.js';
import { checkTarget } from '../middleware/limits.js';
import { encodeCursor, queryFingerprint } from './cursor.js';

/** The URL of a page, without its host. */
export interface PageUrl {
  /** The name of the list, for its cursors. */
  readonly list: string;
  readonly path: string;
  readonly parameters: Query;
  readonly addressOf: PublicUrl['addressOf'];
}

/** The last segment of the path of changes. No id looks like it. */
export const CHANGES = 'changes';

/** A proxy may accept only 4 KiB of headers in all, as nginx does by default. */
const MAX_LINK_BYTES = 2_048;

/**
 * The `Link` header of a page (RFC 8288). The URLs have no host, so that they are valid behind any proxy. While
 * the header is longer than {@link MAX_LINK_BYTES}, `first` and then `prev` are left out, never `next`.
 * @throws HttpError `uri_too_long` if the URL of the next page would be rejected
 */
export function linkHeader(url: PageUrl, query: PageQuery, page: ListPage<Versioned<unknown>>): string {
  const { prev, next } = neighbours(query, page);
  const first = firstTarget(url, query);
  const fingerprint = queryFingerprint(query);
  const targetAt = (position: Position) => `${first}&cursor=${encodeCursor(url.list, { position, fingerprint })}`;
  const links: string[] = [];
  const add = (rel: string, target: string) => links.push(`<${url.addressOf(target)}>; rel="${rel}"`);
  add('first', first);
  if (prev) add('prev', targetAt(prev));
  if (next) {
    const target = targetAt(next);
    checkTarget(target);
    add('next', target);
  }
  const dispensable = next ? links.length - 1 : links.length;
  let start = 0;
  let header = links.join(', ');
  while (header.length > MAX_LINK_BYTES && start < dispensable) header = links.slice(++start).join(', ');
  return header;
}

/** The URL of the first page. A cursor can follow it. */
function firstTarget({ path, parameters }: PageUrl, { limit }: ListQuery): string {
  return `${path}?${conditions(parameters)}limit=${limit}`;
}

/** All parameters but `limit` and `cursor`, each with `&` behind it. */
function conditions(parameters: Query): string {
  let text = '';
  for (const [name, value] of parameters)
    if (name !== 'limit' && name !== 'cursor') text += `${encode(name)}=${encode(value)}&`;
  return text;
}

/**
 * The `Link` header of what has only one direction: where to read on.
 * @param limit absent: the stream has no limit, and so has the next one
 * @throws HttpError `uri_too_long` if the URL would be rejected
 */
export function nextLink(
  { path, parameters, addressOf }: Omit<PageUrl, 'list'>,
  limit: number | undefined,
  cursor: string,
): string {
  const limited = limit === undefined ? '' : `limit=${limit}&`;
  const target = `${path}?${conditions(parameters)}${limited}cursor=${cursor}`;
  checkTarget(target);
  return `<${addressOf(target)}>; rel="next"`;
}

/**
 * Adds where to learn of changes (RFC 5989) to the `Link` header of a list.
 * @param links of a page; undefined if there is no page
 * @param path of the list
 */
export function withMonitor(links: string | undefined, path: string, addressOf: PageUrl['addressOf']): string {
  const monitor = `<${addressOf(`${path}/${CHANGES}`)}>; rel="monitor"`;
  if (links === undefined) return monitor;
  const both = `${links}, ${monitor}`;
  // The first of the links to be left out.
  const isCut = both.length > MAX_LINK_BYTES || !links.includes('rel="first"');
  return isCut ? links : both;
}

/**
 * Percent-encodes, except some characters that a query may contain (RFC 3986 section 3.4). So a link is hardly ever
 * longer than the address that the client sent. Commas and semicolons are encoded, because simple clients split `Link`
 * there.
 */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/%(?:2F|3A|3F|40)/g, decodeURIComponent);
}

interface Neighbours {
  readonly prev?: Position;
  readonly next?: Position;
}

/**
 * The positions of the previous and the next page. A page that the client came from is one, even if it is empty now.
 */
function neighbours({ from, order }: ListQuery, { records, hasMore }: ListPage<Versioned<unknown>>): Neighbours {
  const [first, last] = [records[0], records.at(-1)];
  if (!first || !last) return from ? returnPosition(from) : {};
  const hasPrev = from?.side === 'before' ? hasMore : from !== undefined;
  const hasNext = from?.side === 'before' || hasMore;
  return {
    ...(hasPrev && { prev: positionOf(first, order, 'before') }),
    ...(hasNext && { next: positionOf(last, order, 'after') }),
  };
}

/** The page that the client came from. A record exactly at the position belongs to only one of the two pages. */
function returnPosition(from: Position): Neighbours {
  const inclusive = !from.inclusive;
  return from.side === 'after'
    ? { prev: { ...from, side: 'before', inclusive } }
    : { next: { ...from, side: 'after', inclusive } };
}
