import { linksIn } from './link-header.js';
import { queryString } from './query-string.js';
import type { Field, ResourceTypes, Selected } from './resource-types.js';
import type { Transport } from './transport.js';

/** The seconds that the service may wait for a change. */
const WAIT_SECONDS = 30;
/** A response that takes longer is lost. */
const ATTEMPT_MS = 45_000;
/** The pause after an empty page of a service or a proxy that did not wait. */
const PAUSE_MS = 1_000;

/** A record was deleted. */
export interface Deletion {
  readonly id: number;
  readonly version: number;
  readonly deleted: true;
}

/** A record as it is now, or its deletion. */
export type RecordChange<D extends ResourceTypes, F extends Field<D> = never> =
  | (Selected<D, F> & { readonly id: number; readonly version: number; readonly deleted?: never })
  | Deletion;

export interface ChangesOptions<F extends string> {
  /** The cursor behind which the changes begin, of the same resource and `fields`. By default, from now on. */
  readonly from?: string | undefined;
  readonly fields?: readonly F[] | undefined;
  /** Whether to wait for further changes, without end. Default: true. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Changes behind the cursor may be missing: it is too old, or the store was restored. Take a new cursor, read the list,
 * and follow the changes from that cursor on. `cause` is the error of the service.
 */
export class ResyncNeeded extends Error {
  override readonly name = 'ResyncNeeded';

  constructor(cause: unknown) {
    super('Changes behind this cursor may be missing: take a new one and list again', { cause });
  }
}

/** The changes of one response. */
export interface ChangesPage<T> {
  /** Oldest first, each record at most once. Empty if nothing changed while the service waited. */
  readonly changes: readonly T[];
  /** Where to begin again when these are applied. */
  readonly cursor: string;
}

/** The changes of a resource, oldest first. Each is yielded at least once. */
export class Changes<D extends ResourceTypes, F extends Field<D> = never> implements AsyncIterable<RecordChange<D, F>> {
  private place: string | undefined;

  constructor(
    private readonly transport: Transport,
    private readonly path: string,
    private readonly options: ChangesOptions<F>,
  ) {
    this.place = options.from;
  }

  /**
   * Where to begin again. After a change is applied, no change before this cursor is missing. Undefined until the first
   * response if there was no `from`.
   */
  get cursor(): string | undefined {
    return this.place;
  }

  /** Returns the cursor; asks the service for one of now if there is none yet. */
  async start(): Promise<string> {
    this.place ??= (await this.read(false)).cursor;
    return this.place;
  }

  /** @throws ResyncNeeded */
  async *[Symbol.asyncIterator](): AsyncGenerator<RecordChange<D, F>, void, undefined> {
    for await (const { changes, cursor } of this.pages())
      for (const [at, change] of changes.entries()) {
        const before = this.place;
        if (at === changes.length - 1) this.place = cursor;
        let isApplied = false;
        try {
          yield change;
          isApplied = true;
        } finally {
          // The caller has left its loop, perhaps by an error.
          if (!isApplied) this.place = before;
        }
      }
  }

  /**
   * Yields the same changes in pages of at most 1,000, to apply and store them together. While nothing changes, an empty
   * page brings a newer cursor about every 30 seconds. If changes are not followed, an empty page is the last.
   * @throws ResyncNeeded
   */
  async *pages(): AsyncGenerator<ChangesPage<RecordChange<D, F>>, void, undefined> {
    const { follow = true } = this.options;
    await this.start();
    for (;;) {
      const { hasWaited, ...page } = await this.read(follow);
      yield page;
      this.place = page.cursor;
      if (page.changes.length > 0) continue;
      if (!follow) return;
      if (!hasWaited) await this.transport.pause(PAUSE_MS, this.options.signal);
    }
  }

  private async read(waits: boolean) {
    const { fields, signal } = this.options;
    const query = queryString({ limit: 1_000, fields, cursor: this.place });
    const headers = waits ? { Prefer: `wait=${WAIT_SECONDS}` } : {};
    const call = { headers, signal, noCache: true };
    const transport = waits ? this.transport.patient(ATTEMPT_MS) : this.transport;
    const response = await transport.call('GET', `${this.path}/changes?${query}`, call).catch((error: unknown) => {
      throw (error as { status?: unknown }).status === 410 ? new ResyncNeeded(error) : error;
    });
    const next = new URL(linksIn(response.headers.get('Link')).get('next') ?? '', this.transport.base);
    return {
      changes: (await response.json()) as readonly RecordChange<D, F>[],
      cursor: next.searchParams.get('cursor') ?? '',
      hasWaited: response.headers.has('Preference-Applied'),
    };
  }
}
