/** A record as the service shows it; the fields depend on the resource. */
export type RemoteRecord = Readonly<Record<string, unknown>>;

/** A record and its version, an integer from 1. */
export type VersionedRecord = RemoteRecord & { readonly version: number };

/** One page of a list. */
export interface RemotePage {
  readonly records: readonly RemoteRecord[];
  /** Leads to the next page. Absent on the last one. */
  readonly nextCursor?: string;
  /** The number of records on all pages, if the request asks for it. */
  readonly total?: number;
}

/** The error that a service responds with. */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly details: readonly unknown[];
}

/** The service refuses a request. */
export class RequestRefused extends Error {
  constructor(
    /** The HTTP status, at least 300. */
    readonly status: number,
    readonly body: ErrorBody,
    /** How long to wait before the next attempt, in seconds, if the service says so. */
    readonly retryAfterSeconds?: number,
  ) {
    super(`${body.message} (${body.code})`);
  }

  /** Whether the credential lacks the scope. */
  get lacksScope(): boolean {
    return this.body.code === 'insufficient_scope';
  }
}

/** Options of every request. */
export interface RequestOptions {
  /** Ends the request when it is aborted. */
  readonly signal?: AbortSignal;
}

/**
 * A running service, as one of its clients sees it. `resource` is a name such as `products`.
 * Every method throws RequestRefused, and AppError `unavailable` if there is no response.
 */
export interface RemoteCatalogue {
  /** Returns the OpenAPI document of the service. */
  describe(): Promise<unknown>;
  /** Whether the credential may read or write a resource. Changes nothing. */
  may(access: 'read' | 'write', resource: string): Promise<boolean>;
  /** @param query filters and other parameters by name, as the interface spells them */
  list(
    resource: string,
    query: ReadonlyMap<string, string>,
    options: RequestOptions & { readonly isCounted: boolean },
  ): Promise<RemotePage>;
  read(resource: string, id: number, options: RequestOptions): Promise<VersionedRecord>;
  /**
   * @param idempotencyKey creations with the same key make one record
   * @returns the record, and whether an earlier request created it
   */
  create(
    resource: string,
    record: object,
    idempotencyKey: string,
    options: RequestOptions,
  ): Promise<{ readonly record: VersionedRecord; readonly isReplayed: boolean }>;
  /** Applies a JSON Merge Patch (RFC 7396) if the record still has this version. */
  update(
    resource: string,
    id: number,
    version: number,
    changes: object,
    options: RequestOptions,
  ): Promise<VersionedRecord>;
  /** Deletes a record if it still has this version. */
  delete(resource: string, id: number, version: number, options: RequestOptions): Promise<void>;
}
