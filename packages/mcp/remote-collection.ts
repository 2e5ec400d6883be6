import type {
  CallOptions,
  Catalogue,
  EditableCollection,
  EditableTypes,
  PageOptions,
  Snapshot,
  Target,
} from '#packages/client/index.js';
import { RequestRefused } from '#packages/remote/errors.js';

/** A record as the service shows it, and its version, an integer from 1. */
export interface VersionedRecord {
  readonly [name: string]: unknown;
  readonly version: number;
}

/** The most records whose generation is remembered: those that were shown last. */
const MAX_SHOWN = 10_000;

/** Other writers would have to create and delete the same record as often. */
const MAX_ROUNDS = 8;

interface Shown {
  readonly id: number;
}

/** A collection of the service. Every method throws RequestRefused, and Unavailable if there is no response. */
export class RemoteCollection {
  private readonly path: '/v1/products';
  private readonly collection: EditableCollection<EditableTypes>;
  /**
   * What the newest tag has behind the version: the generation of the store, or nothing. A store that is replaced gets
   * another, in which a version may stand for another state of the record.
   */
  private generation = '';
  /** The same, by id, when a record was last shown: a version that a model sends is of this generation. */
  private readonly shown = new Map<number, string>();

  /** @param name such as `products` */
  constructor(
    private readonly catalogue: Catalogue,
    name: string,
  ) {
    // The path of another collection takes the same requests, but has another type.
    this.path = `/v1/${name}` as '/v1/products';
    this.collection = catalogue.collection(this.path);
  }

  /** Whether the credential may read records. Reads one, whose tag has the generation: lists have only versions. */
  async mayRead(): Promise<boolean> {
    const readFirst = async () => {
      const { records } = await this.collection.page({ limit: 1, fields: ['id'] } as object);
      // Another program may respond anything; what comes later says so.
      const id = Array.isArray(records) ? (records as readonly { readonly id?: number }[])[0]?.id : undefined;
      if (id !== undefined) await this.read(id, {});
    };
    return isAllowed(readFirst(), [404]);
  }

  /**
   * Whether the credential may write records. Posts nothing: the service decides access before it looks at a body, and
   * then refuses a body that has no media type.
   */
  mayWrite(): Promise<boolean> {
    return isAllowed(this.catalogue.POST(this.path, {} as never), [400, 415]);
  }

  /**
   * Returns a page: its records, `nextCursor` if there is another page, and `total`, the number of records on all pages,
   * if `count` asks for it.
   */
  async list(query: object, options: PageOptions): Promise<object> {
    const { records, next, total } = await this.collection.page(query, options);
    for (const { id } of records as readonly { readonly id?: number }[]) if (id !== undefined) this.show(id);
    const cursor = next && new URL(next, 'https://localhost').searchParams.get('cursor');
    return { records, ...(cursor && { nextCursor: cursor }), ...(total !== undefined && { total }) };
  }

  /** Returns the values of some fields, each with the number of records that have it. */
  async facets(query: object, options: CallOptions): Promise<object> {
    return { facets: (await this.collection.facets(query, options)).facets };
  }

  async read(id: number, options: CallOptions): Promise<VersionedRecord> {
    return this.versioned(await this.collection.read<never>(id, options));
  }

  /**
   * @param idempotencyKey creations with the same key make one record
   * @returns the record, and whether an earlier request created it
   */
  async create(
    record: object,
    idempotencyKey: string,
    { signal }: CallOptions,
  ): Promise<{ readonly record: VersionedRecord; readonly isReplayed: boolean }> {
    const params = { header: { 'Idempotency-Key': idempotencyKey } };
    const creation = { params, body: record, signal };
    const { data, response } = await this.catalogue.POST(this.path, creation as never);
    return {
      record: this.versioned({ data: data as unknown as Shown, etag: response.headers.get('ETag') ?? '' }),
      isReplayed: response.headers.has('Idempotency-Replayed'),
    };
  }

  /** Applies a JSON Merge Patch (RFC 7396) if the record still has this version. */
  async update(id: number, version: number, changes: object, options: CallOptions): Promise<VersionedRecord> {
    return this.versioned(await this.collection.patch(this.target(id, version), changes, options));
  }

  /**
   * Applies a JSON Merge Patch (RFC 7396) to the record that has this key, whatever its version, or creates one.
   * @param key such as `{ sku: 'L-1' }`
   */
  async upsert(
    key: Readonly<Record<string, string>>,
    fields: object,
    options: CallOptions,
  ): Promise<VersionedRecord & { readonly created: boolean }> {
    const record = { ...fields, ...key };
    for (let round = 1; ; round++) {
      try {
        return { ...this.versioned(await this.collection.patch(key, record, options)), created: false };
      } catch (error) {
        if (!isRefusal(error, 404)) throw error;
      }
      try {
        return { ...this.versioned(await this.collection.create(record, options)), created: true };
      } catch (error) {
        // Another writer was faster.
        if (!isRefusal(error, 409) || round === MAX_ROUNDS) throw error;
      }
    }
  }

  /** Deletes a record if it still has this version. */
  async delete(id: number, version: number, options: CallOptions): Promise<void> {
    await this.collection.delete(this.target(id, version), options);
  }

  private target(id: number, version: number): Target {
    return { id, etag: `"${version}${this.shown.get(id) ?? this.generation}"` };
  }

  private versioned({ data, etag }: Pick<Snapshot<Shown>, 'data' | 'etag'>): VersionedRecord {
    const [, version, generation = ''] = /^"(\d+)(-[0-9a-z]+)?"$/.exec(etag) ?? [];
    this.generation = generation;
    this.show(data.id);
    return { ...data, version: Number(version) };
  }

  private show(id: number): void {
    const { shown } = this;
    shown.delete(id);
    shown.set(id, this.generation);
    for (const oldest of shown.keys()) {
      if (shown.size <= MAX_SHOWN) break;
      shown.delete(oldest);
    }
  }
}

/** @param harmless the statuses of refusals that have another reason than the scope */
async function isAllowed(request: Promise<unknown>, harmless: readonly number[] = []): Promise<boolean> {
  try {
    await request;
    return true;
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    if (error.body.code === 'insufficient_scope') return false;
    if (harmless.includes(error.status)) return true;
    throw error;
  }
}

function isRefusal(error: unknown, status: number): boolean {
  return error instanceof RequestRefused && error.status === status;
}
