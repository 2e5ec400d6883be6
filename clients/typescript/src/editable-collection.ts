import {
  type CallOptions,
  Collection,
  type CreateOptions,
  type Stored,
  stored,
  type Target,
} from './collection.js';
import { CatalogueError } from './errors.js';
import { NDJSON } from './is-retryable.js';
import { asNdjson, every, readLines } from './ndjson.js';
import type { Editable, ImportResult, JsonPatch } from './resource-types.js';

export interface EditOptions extends CallOptions {
  /** The most attempts if other clients write first; 10 by default. */
  readonly maxTries?: number;
}

/** Returns the replacement of a record. */
export type Change<D extends Editable> = (
  record: D['record'],
) => D['replacement'] | Promise<D['replacement']>;

/** The records of a resource whose records can be changed and imported. */
export class EditableCollection<D extends Editable> extends Collection<D> {
  async replace(
    target: Target,
    replacement: D['replacement'],
    { signal }: CallOptions = {},
  ): Promise<Stored<D['record']>> {
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify(replacement);
    return stored(await this.write('PUT', target, { headers, body, signal }));
  }

  /** @param patch an object is a merge patch, in which null removes a field; an array is a JSON Patch */
  async patch(
    target: Target,
    patch: D['patch'] | JsonPatch,
    { signal }: CallOptions = {},
  ): Promise<Stored<D['record']>> {
    const kind = Array.isArray(patch) ? 'json-patch' : 'merge-patch';
    const headers = { 'Content-Type': `application/${kind}+json` };
    const body = JSON.stringify(patch);
    return stored(await this.write('PATCH', target, { headers, body, signal }));
  }

  /**
   * Reads, changes and replaces a record. If another client wrote meanwhile, it starts again, so that no change is
   * lost.
   * @param change called for each attempt, so it must have no side effects
   */
  async edit(
    id: number,
    change: Change<D>,
    { signal, maxTries = 10 }: EditOptions = {},
  ): Promise<Stored<D['record']>> {
    const options = signal ? { signal } : {};
    for (let tries = 1; ; tries++) {
      const found = await this.read<never>(id, { fresh: true, ...options });
      try {
        return await this.replace(found, await change(found.data), options);
      } catch (error) {
        if (!isOvertaken(error) || tries >= maxTries) throw error;
      }
    }
  }

  /**
   * Creates records, and yields the result of each in order. It is never retried automatically. With an
   * `idempotencyKey` the caller can send the whole import again.
   */
  async *import(
    records: Iterable<D['fresh']> | AsyncIterable<D['fresh']>,
    { idempotencyKey, signal }: CreateOptions = {},
  ): AsyncGenerator<ImportResult, void, undefined> {
    const headers = {
      'Content-Type': NDJSON,
      Accept: NDJSON,
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    };
    const source = every(records);
    const done = new AbortController();
    const call = {
      headers,
      body: asNdjson(source),
      signal: AbortSignal.any([done.signal, ...(signal ? [signal] : [])]),
    };
    try {
      yield* readLines<ImportResult>(await this.transport.call('POST', this.path, call));
    } finally {
      // If the import was refused or the caller stopped reading, no more records are taken from the source.
      done.abort();
      source.return(undefined).catch(() => {});
    }
  }
}

function isOvertaken(error: unknown): boolean {
  return error instanceof CatalogueError && error.code === 'precondition_failed';
}
