import type { Id, Versioned } from './record.js';

/** The code of an error. Clients depend on it: every code is in the public contract. */
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
  | 'limit_reached'
  | 'cursor_expired'
  | 'precondition_failed'
  | 'precondition_required'
  | 'idempotency_key_reused'
  | 'payload_too_large'
  | 'rate_limited'
  | 'unavailable';

/** The code of an issue: the rule that a value breaks. */
export type IssueCode =
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
export interface Issue {
  readonly code: IssueCode;
  readonly message: string;
  readonly in: 'body';
  readonly pointer: string;
  /** Of `duplicate_value`: the record that has the value. */
  readonly id?: Id;
}

/** A problem with the value at a path of an entity. */
export interface LocatedIssue {
  readonly code: IssueCode;
  readonly path: readonly (string | number)[];
  /** The value, if it is known. */
  readonly value?: unknown;
  /** Whether the key of an attribute is wrong, the last step of the path, and not its value. */
  readonly ofKey?: true | undefined;
}

/** The one error that crosses a port. Any other error is a defect, and the response is `internal_error`. */
export class AppError extends Error {
  override readonly name = 'AppError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: readonly Issue[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The version of the record does not meet the precondition. */
export class PreconditionFailed extends AppError {
  /** @param current the record as it is now */
  constructor(readonly current: Versioned<unknown>) {
    super('precondition_failed', 'The record is no longer the version that the request names.');
  }
}

/** Another record has the value of a unique field. */
export class DuplicateValue extends AppError {
  /** @param owner the other record's id; the detail names it */
  constructor(
    readonly field: string,
    owner?: Id,
  ) {
    const message = `Another record has this ${field}.`;
    const pointer = jsonPointer([field]);
    const id = owner !== undefined && { id: owner };
    super('duplicate_value', message, [{ code: 'duplicate_value', message, in: 'body', pointer, ...id }]);
  }

  /** Returns the same error with the id of the other record in its detail. */
  ownedBy(id: Id): DuplicateValue {
    return new DuplicateValue(this.field, id);
  }
}

export function notFound(): AppError {
  return new AppError('not_found', 'Not found.');
}

/** @param where what names the version that the client has seen: `If-Match` */
export function versionRequired(where: string): AppError {
  return new AppError('precondition_required', `Say in ${where} which version you have seen.`);
}

export function queryTooExpensive(): AppError {
  return new AppError(
    'query_too_expensive',
    'No index serves this query, and it did not finish in time. Request less, or filter and sort by other fields.',
  );
}

export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('unavailable', message, [], { cause });
}

export function duplicateValue(field: string): DuplicateValue {
  return new DuplicateValue(field);
}

/** An error has at most this many details: a body can have more issues than anyone reads. */
export const MAX_ISSUES = 1_000;

/** A path may be as long as a body; a message shows at most this many characters of it. */
const MAX_SUBJECT = 80;

/**
 * An issue of a body: of the field at a path, or of the whole body if the path is empty.
 * @param rule what is allowed; completes a sentence whose subject is the field: `must be at most 64 characters`
 */
export function fieldIssue(code: IssueCode, path: readonly (string | number)[], rule: string): Issue {
  const subject = path.length === 0 ? 'The body' : path.join('.').slice(0, MAX_SUBJECT);
  return { code, message: `${subject} ${rule}.`, in: 'body', pointer: jsonPointer(path) };
}

/** A name may be as long as a body, and each issue below it repeats it. */
const MAX_STEP = 256;

/**
 * Returns the JSON Pointer to a value; to its parent if its name is longer than 256 UTF-16 units. RFC 6901 section 3:
 * `~` and `/` in a step are escaped.
 */
export function jsonPointer(path: readonly (string | number)[]): string {
  const steps = path.map(String);
  const tooLong = steps.findIndex(({ length }) => length > MAX_STEP);
  return (tooLong < 0 ? steps : steps.slice(0, tooLong))
    .map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}
