import { unlessAborted } from './backoff.js';
import { Changes, type ChangesOptions } from './changes.js';
import { type CallOptions, Collection, type Snapshot, snapshotOf, type Target } from './collection.js';
import { CatalogueError } from './errors.js';
import { NDJSON, type StreamType } from './is-retryable.js';
import { asNdjson, iterate, readLines } from './ndjson.js';
import { queryString } from './query-string.js';
import type {
  EditableTypes,
  Field,
  ImportResult,
  JsonPatch,
  Key,
  Keyed,
  MatchedLine,
  MatchField,
} from './resource-types.js';

export interface PutOptions extends CallOptions {
  /** The ETag that the record must have. With it, nothing is created. */
  readonly ifMatch?: string;
  /** Creates, and replaces nothing. */
  readonly ifNoneMatch?: '*';
}

/** A record after a `put`. */
export interface Put<T> extends Snapshot<T> {
  /** Whether the last attempt created the record. An earlier attempt, whose response was lost, may have done it. */
  readonly created: boolean;
}

export interface ImportOptions extends CallOptions {
  /** Without one, an import that is sent again creates its records again. Not together with `dryRun`. */
  readonly idempotencyKey?: string;
  /** Writes nothing, and yields what would happen. */
  readonly dryRun?: boolean;
}

export interface MatchOptions<Match> extends Omit<ImportOptions, 'idempotencyKey'> {
  /** The field by which each line names a record, which it changes, or creates if there is none. */
  readonly match: Match;
  /** What a line does to a record that exists: `merge` (a merge patch, the default), `replace`, or `skip` (nothing). */
  readonly existing?: 'merge' | 'replace' | 'skip';
  /** What an empty cell of CSV does under `merge`: `keep` (nothing, the default), or `clear` (it removes the value). */
  readonly empty?: 'keep' | 'clear';
}

type Lines<Line> = Iterable<Line> | AsyncIterable<Line>;
type FileContent = string | Blob | ReadableStream<Uint8Array>;

export interface EditOptions extends CallOptions {
  /** The most attempts if other clients write first; 10 by default. */
  readonly maxAttempts?: number;
}

/** Returns the replacement of a record. */
export type Change<D extends EditableTypes> = (record: D['record']) => D['replacement'] | Promise<D['replacement']>;

/** The records of a resource whose records can be changed and imported. */
export class EditableCollection<D extends EditableTypes> extends Collection<D> {
  async replace(
    target: Target,
    replacement: D['replacement'],
    { signal }: CallOptions = {},
  ): Promise<Snapshot<D['record']>> {
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify(replacement);
    return snapshotOf(await this.write('PUT', target, { headers, body, signal }));
  }

  /**
   * Creates the record that has this key, or replaces it.
   * @param record may leave out the field of the key
   */
  async put(
    key: Key<D>,
    record: Keyed<D>,
    { ifMatch, ifNoneMatch, signal }: PutOptions = {},
  ): Promise<Put<D['record']>> {
    const headers = {
      'Content-Type': 'application/json',
      ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
      ...(ifNoneMatch !== undefined && { 'If-None-Match': ifNoneMatch }),
    };
    const body = JSON.stringify(record);
    const response = await this.write('PUT', key, { headers, body, signal });
    return { ...(await snapshotOf<D['record']>(response)), created: response.status === 201 };
  }

  /** @param patch an object is a merge patch, in which null removes a field; an array is a JSON Patch */
  async patch(
    target: Target<Key<D>>,
    patch: D['patch'] | JsonPatch,
    { signal }: CallOptions = {},
  ): Promise<Snapshot<D['record']>> {
    const kind = Array.isArray(patch) ? 'json-patch' : 'merge-patch';
    const headers = { 'Content-Type': `application/${kind}+json` };
    const body = JSON.stringify(patch);
    return snapshotOf(await this.write('PATCH', target, { headers, body, signal }));
  }

  /**
   * Reads, changes and replaces a record. If another client wrote meanwhile, it starts again, so that no change is
   * lost.
   * @param change called for each attempt, so it must have no side effects
   */
  async edit(
    at: number | Key<D>,
    change: Change<D>,
    { signal, maxAttempts = 10 }: EditOptions = {},
  ): Promise<Snapshot<D['record']>> {
    const options = signal ? { signal } : {};
    for (let attempt = 1; ; attempt++) {
      const found = await this.read<never>(at, { noCache: true, ...options });
      try {
        return await this.replace(found, await change(found.data), options);
      } catch (error) {
        if (!isConflict(error) || attempt >= maxAttempts) throw error;
      }
    }
  }

  /**
   * Returns the changes of the records, to be iterated. They begin behind a cursor or now, and go on without end: an
   * interrupted connection is made again.
   */
  changes<const F extends Field<D> = never>(options: ChangesOptions<F> = {}): Changes<D, F> {
    return new Changes<D, F>(this.transport, this.path, options);
  }

  /**
   * Creates records or, with `match`, changes, creates and deletes them, and yields the result of each in order. It is
   * never retried automatically: results would be yielded twice. The caller can send the whole import again, if it has
   * an `idempotencyKey`, or `match`.
   */
  import(records: Lines<D['input']>, options?: ImportOptions): AsyncGenerator<ImportResult, void, undefined>;
  import<const Match extends MatchField<D>>(
    records: Lines<MatchedLine<D, Match>>,
    options: MatchOptions<Match>,
  ): AsyncGenerator<ImportResult, void, undefined>;
  async *import(
    records: Lines<object>,
    options: ImportOptions | MatchOptions<string> = {},
  ): AsyncGenerator<ImportResult, void, undefined> {
    const { signal } = options;
    const source = iterate(records);
    const done = new AbortController();
    const ended = AbortSignal.any([done.signal, ...(signal ? [signal] : [])]);
    try {
      const stream = asNdjson(source);
      // Browsers send streams only over HTTP/2.
      const body = globalThis.location ? await unlessAborted(new Response(stream).blob(), ended) : stream;
      yield* this.sendImport(NDJSON, body, { ...options, signal: ended });
    } finally {
      // If the import was refused or the caller stopped reading, no more records are taken from the source.
      done.abort();
      source.return(undefined).catch(() => {});
    }
  }

  /**
   * Does the same with the lines of NDJSON, or of CSV, whose header row names the columns. The service imports no orders
   * from CSV.
   * @param records a file, for instance
   */
  importFile(
    type: StreamType,
    records: FileContent,
    options: ImportOptions | MatchOptions<MatchField<D>> = {},
  ): AsyncGenerator<ImportResult, void, undefined> {
    return this.sendImport(type, records, options);
  }

  private async *sendImport(
    type: StreamType,
    body: FileContent,
    { idempotencyKey, signal, match, existing, empty, dryRun }: ImportOptions & Partial<MatchOptions<string>>,
  ): AsyncGenerator<ImportResult, void, undefined> {
    const headers = {
      'Content-Type': type,
      Accept: NDJSON,
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    };
    const query = queryString({ match, existing, empty, dryRun });
    const reference = `${this.path}/imports${query && `?${query}`}`;
    yield* readLines<ImportResult>(await this.transport.call('POST', reference, { headers, body, signal }));
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof CatalogueError && error.code === 'precondition_failed';
}
