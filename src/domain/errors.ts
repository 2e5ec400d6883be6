import type { Versioned } from './record.js';

/** What went wrong, in the words that clients are written against. Every code is in the public contract. */
export type ErrorCode =
  | 'validation_failed'
  | 'query_too_expensive'
  | 'invalid_patch'
  | 'unauthenticated'
  | 'invalid_token'
  | 'token_expired'
  | 'insufficient_scope'
  | 'not_found'
  | 'duplicate_value'
  | 'patch_test_failed'
  | 'last_admin_key'
  | 'precondition_failed'
  | 'idempotency_key_reused'
  | 'rate_limited'
  | 'unavailable';

/** What is wrong with one value. */
export type FaultCode =
  | 'required'
  | 'invalid_type'
  | 'out_of_range'
  | 'too_long'
  | 'too_short'
  | 'invalid_format'
  | 'unknown_field'
  | 'read_only_field'
  | 'duplicate_value'
  | 'reference_not_found'
  | 'patch_test_failed';

/** One problem with a value; `pointer` is a JSON Pointer (RFC 6901) to it. */
export interface Fault {
  readonly code: FaultCode;
  readonly message: string;
  readonly in: 'body';
  readonly pointer: string;
}

/** The one error that crosses a port. Anything else that is thrown is a defect and is answered as `internal_error`. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: readonly Fault[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The record has moved on since the version that the caller saw. */
export class PreconditionFailed extends CatalogueError {
  /** @param current as it stands now */
  constructor(readonly current: Versioned<unknown>) {
    super('precondition_failed', 'The record is no longer the version that the request names.');
  }
}

export function notFound(): CatalogueError {
  return new CatalogueError('not_found', 'There is nothing at this address.');
}

export function queryTooExpensive(): CatalogueError {
  return new CatalogueError(
    'query_too_expensive',
    'No index serves this query, and it was not done in time. Ask for less, or filter and sort by other fields.',
  );
}

export function unavailable(message: string, cause?: unknown): CatalogueError {
  return new CatalogueError('unavailable', message, [], { cause });
}

export function duplicateValue(field: string): CatalogueError {
  const message = `Another record has this ${field}.`;
  return new CatalogueError('duplicate_value', message, [
    { code: 'duplicate_value', message, in: 'body', pointer: jsonPointer([field]) },
  ]);
}

/** At most so many faults are told: a body can hold more of them than anyone reads. */
export const MAX_FAULTS = 1_000;

/** What the domain says of a field that breaks a rule of it. */
export function fieldFault(code: FaultCode, path: readonly (string | number)[]): Fault {
  return {
    code,
    message: `${path.join('.')} breaks a rule of its field.`,
    in: 'body',
    pointer: jsonPointer(path),
  };
}

/** What is said of a field that names a record which is not there. */
export function referenceNotFound(path: readonly (string | number)[]): Fault {
  return {
    code: 'reference_not_found',
    message: `${path.join('.')} names nothing that exists.`,
    in: 'body',
    pointer: jsonPointer(path),
  };
}

/** RFC 6901 section 3: `~` and `/` inside a step are escaped. */
export function jsonPointer(path: readonly (string | number)[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
