import { unlessAborted } from './backoff.js';
import {
  type CallOptions,
  Collection,
  type CreateOptions,
  type Snapshot,
  snapshotOf,
  type Target,
} from './collection.js';
import { CatalogueError } from './errors.js';
import { NDJSON, type StreamType } from './is-retryable.js';
import { asNdjson, iterate, readLines } from './ndjson.js';
import type { EditableTypes, ImportResult, JsonPatch } from './resource-types.js';

export interface EditOptions extends CallOptions {
  /** The most attempts if other clients write first; 10 by default. */
  readonly maxAttempts?: number;
}

/** Returns the replacement of a record. */
export type Change<D extends EditableTypes> = (
  record: D['record'],
) => D['replacement'] | Promise<D['replacement']>;

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

  /** @param patch an object is a merge patch, in which null removes a field; an array is a JSON Patch */
  async patch(
    target: Target,
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
    id: number,
    change: Change<D>,
    { signal, maxAttempts = 10 }: EditOptions = {},
  ): Promise<Snapshot<D['record']>> {
    const options = signal ? { signal } : {};
    for (let attempt = 1; ; attempt++) {
      const found = await this.read<never>(id, { noCache: true, ...options });
      try {
        return await this.replace(found, await change(found.data), options);
      } catch (error) {
        if (!isConflict(error) || attempt >= maxAttempts) throw error;
      }
    }
  }

  /**
   * Creates records, and yields the result of each in order. It is never retried automatically. With an
   * `idempotencyKey` the caller can send the whole import again.
   */
  async *import(
    records: Iterable<D['input']> | AsyncIterable<D['input']>,
    { idempotencyKey, signal }: CreateOptions = {},
  ): AsyncGenerator<ImportResult, void, undefined> {
    const headers = {
      'Content-Type': NDJSON,
      Accept: NDJSON,
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    };
    const source = iterate(records);
    const done = new AbortController();
    const call = { headers, signal: AbortSignal.any([done.signal, ...(signal ? [signal] : [])]) };
    try {
      const stream = asNdjson(source);
      // Browsers send streams only over HTTP/2.
      const body = globalThis.location
        ? await unlessAborted(new Response(stream).blob(), call.signal)
        : stream;
      yield* readLines<ImportResult>(
        await this.transport.call('POST', `${this.path}/imports`, { ...call, body }),
      );
    } finally {
      // If the import was refused or the caller stopped reading, no more records are taken from the source.
      done.abort();
      source.return(undefined).catch(() => {});
    }
  }

  /**
   * Creates the records of NDJSON, or of CSV, whose header row names the columns, and yields the result of each in
   * order. The service imports no orders from CSV. Like {@link import}, it is never retried automatically.
   * @param records a file, for instance
   */
  async *importFile(
    type: StreamType,
    records: string | Blob | ReadableStream<Uint8Array>,
    { idempotencyKey, signal }: CreateOptions = {},
  ): AsyncGenerator<ImportResult, void, undefined> {
    const headers = {
      'Content-Type': type,
      Accept: NDJSON,
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    };
    yield* readLines<ImportResult>(
      await this.transport.call('POST', `${this.path}/imports`, { headers, body: records, signal }),
    );
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof CatalogueError && error.code === 'precondition_failed';
}
