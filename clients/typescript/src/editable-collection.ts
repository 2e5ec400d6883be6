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
  /** How often the change is tried where others are faster; 10. */
  readonly maxTries?: number;
}

/** Makes of a record what it shall be. */
export type Change<D extends Editable> = (
  record: D['record'],
) => D['replacement'] | Promise<D['replacement']>;

/** Records that can be changed, and imported. */
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
   * Reads, changes and replaces a record, anew where somebody else wrote meanwhile, so that no change is lost.
   * @param change is called for each try, and shall have no other effect than what it returns
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
   * Creates records as they are taken, and tells of each what became of it, in order. It is not repeated by itself: under
   * an `idempotencyKey` it can be sent again, whole.
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
      // What was refused, or is listened to no more, takes no more records.
      done.abort();
      source.return(undefined).catch(() => {});
    }
  }
}

function isOvertaken(error: unknown): boolean {
  return error instanceof CatalogueError && error.code === 'precondition_failed';
}
