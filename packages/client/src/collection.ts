import { unexpected } from './errors.js';
import { NDJSON, type StreamType } from './is-retryable.js';
import { linksIn } from './link-header.js';
import { readLines } from './ndjson.js';
import { queryString } from './query-string.js';
import type { CsvQuery, Facet, Field, Key, ListQuery, ResourceTypes, Selected } from './resource-types.js';
import type { Call, Transport } from './transport.js';

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface ReadOptions<F extends string> extends CallOptions {
  readonly fields?: readonly F[];
  /** Bypasses caches. */
  readonly noCache?: boolean;
}

export interface CreateOptions extends CallOptions {
  /** By default a new key for each call. */
  readonly idempotencyKey?: string;
}

/** A record as it was at one time. A write to it succeeds only if the record has not changed since. */
export interface Snapshot<T> {
  readonly id: number;
  readonly data: T;
  readonly etag: string;
}

/** Some fields of a record. They have no ETag that a write could use. */
export interface PartialSnapshot<T> {
  readonly data: T;
}

export type Read<D extends ResourceTypes, F extends Field<D>> = [F] extends [never]
  ? Snapshot<D['record']>
  : PartialSnapshot<Selected<D, F>>;

/** The target of a write: a record as it was read, or an id or a key for a write without a precondition. */
export type Target<K = never> = number | K | Pick<Snapshot<unknown>, 'id' | 'etag'>;

export interface PageOptions extends CallOptions {
  /** Whether to count all records that match. That costs time, which grows with their number. */
  readonly count?: boolean;
}

/** A page of a list. The URLs are paths with a query, which {@link Collection.page} reads. */
export interface Page<T> {
  readonly records: readonly T[];
  readonly first?: string;
  /** Absent on the first page. */
  readonly prev?: string;
  /** Absent on the last page. */
  readonly next?: string;
  /** The number of all records that match, if it was asked for. */
  readonly total?: number;
}

/** The values of some fields, each with the number of records that have it. */
export interface FacetsPage {
  /** In the order of the fields in the query. */
  readonly facets: readonly Facet[];
  /** The URL of further values, if the query names one field that has more. */
  readonly next?: string;
}

/** The records of one resource. */
export class Collection<D extends ResourceTypes> {
  constructor(
    protected readonly transport: Transport,
    protected readonly path: string,
  ) {}

  /** Yields every record that matches. Requests each page when it is needed. */
  async *list<const F extends Field<D> = never>(
    query?: ListQuery<D, F>,
    options?: CallOptions,
  ): AsyncGenerator<Selected<D, F>, void, undefined> {
    for await (const { records } of this.pages<F>(query, options)) yield* records;
  }

  /** Yields the same records in pages of at most `limit`. */
  async *pages<const F extends Field<D> = never>(
    query?: ListQuery<D, F>,
    { signal }: CallOptions = {},
  ): AsyncGenerator<Page<Selected<D, F>>, void, undefined> {
    let reference: string | undefined = this.urlOf(query);
    while (reference !== undefined) {
      const page: Page<Selected<D, F>> = await this.page<F>(reference, signal ? { signal } : {});
      reference = page.next;
      yield page;
    }
  }

  /**
   * Reads one page.
   * @param at a query for its first page, or the URL of a page in another page
   */
  async page<const F extends Field<D> = never>(
    at?: ListQuery<D, F> | string,
    { count = false, signal }: PageOptions = {},
  ): Promise<Page<Selected<D, F>>> {
    const reference = typeof at === 'string' ? at : this.urlOf(at);
    const headers = count ? { Prefer: 'count=exact' } : {};
    const response = await this.transport.call('GET', reference, { headers, signal });
    const links = linksIn(response.headers.get('Link'));
    if (links.get('next') === reference) throw unexpected(response, 'The next page is the page itself');
    const total = response.headers.get('X-Total-Count');
    return {
      records: await response.json(),
      ...Object.fromEntries([...links].filter(([relation]) => /^(first|prev|next)$/.test(relation))),
      ...(total !== null && { total: Number(total) }),
    };
  }

  /**
   * Counts the records that match by their values in some fields.
   * @param at a query, or the URL of further values
   */
  async facets(at: D['facets'] | FurtherValues<D>, { signal }: CallOptions = {}): Promise<FacetsPage> {
    const reference = typeof at === 'string' ? at : this.urlOf(at, `${this.path}/facets`);
    const response = await this.transport.call('GET', reference, { signal });
    const next = linksIn(response.headers.get('Link')).get('next');
    return { facets: await response.json(), ...(next !== undefined && { next }) };
  }

  /**
   * Yields the same records from one streamed response, for large collections. An interrupted export cannot continue.
   */
  async *export<const F extends Field<D> = never>(
    query?: ListQuery<D, F>,
    { signal }: CallOptions = {},
  ): AsyncGenerator<Selected<D, F>, void, undefined> {
    const headers = { Accept: NDJSON };
    yield* readLines<Selected<D, F>>(await this.transport.call('GET', this.urlOf(query), { headers, signal }));
  }

  /**
   * Returns the same records as a stream of bytes: NDJSON, or CSV with a header row. For CSV, `fields` chooses columns
   * such as `price.amount` or `attributes.colour`. The stream fails if the export is interrupted.
   */
  async exportFile(
    type: StreamType,
    query?: CsvQuery<D>,
    { signal }: CallOptions = {},
  ): Promise<ReadableStream<Uint8Array>> {
    const headers = { Accept: type };
    const { body } = await this.transport.call('GET', this.urlOf(query), { headers, signal });
    return body ?? new Blob().stream();
  }

  async create(input: D['input'], { idempotencyKey, signal }: CreateOptions = {}): Promise<Snapshot<D['created']>> {
    const headers = {
      'Content-Type': 'application/json',
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    };
    const body = JSON.stringify(input);
    return snapshotOf(await this.transport.call('POST', this.path, { headers, body, signal }));
  }

  async read<const F extends Field<D> = never>(
    at: number | Key<D>,
    { fields, noCache = false, signal }: ReadOptions<F> = {},
  ): Promise<Read<D, F>> {
    const reference = `${this.addressOf(at)}${fields ? `?${queryString({ fields })}` : ''}`;
    const response = await this.transport.call('GET', reference, { noCache, signal });
    return (fields ? { data: await response.json() } : await snapshotOf(response)) as Read<D, F>;
  }

  async delete(target: Target<Key<D>>, { signal }: CallOptions = {}): Promise<void> {
    await this.write('DELETE', target, { signal });
  }

  protected write(method: string, target: Target<Key<D>>, call: Call): Promise<Response> {
    if (!isSnapshot(target)) return this.transport.call(method, this.addressOf(target), call);
    const headers = { ...call.headers, 'If-Match': target.etag };
    return this.transport.call(method, this.addressOf(target.id), { ...call, headers });
  }

  /** @throws RangeError for a key that is `.` or `..`, which the parsers of URLs remove */
  protected addressOf(at: number | Key<D>): string {
    if (typeof at === 'number') return `${this.path}/${at}`;
    const [[field = '', value = ''] = []] = Object.entries<string>(at);
    if (/^\.\.?$/.test(value)) throw new RangeError(`No address has the ${field} "${value}"`);
    return `${this.path}/${field}/${encodeURIComponent(value)}`;
  }

  private urlOf(query: object | undefined, path = this.path): string {
    const parameters = queryString(query ?? {});
    return parameters === '' ? path : `${path}?${parameters}`;
  }
}

/** The URL of further values, where the service counts. */
type FurtherValues<D extends ResourceTypes> = [D['facets']] extends [never] ? never : string;

export async function snapshotOf<T extends { readonly id: number }>(response: Response): Promise<Snapshot<T>> {
  const data: T = await response.json();
  return { id: data.id, data, etag: response.headers.get('ETag') ?? '' };
}

function isSnapshot<K>(target: Target<K>): target is Pick<Snapshot<unknown>, 'id' | 'etag'> {
  return typeof target === 'object' && target !== null && 'etag' in target;
}
