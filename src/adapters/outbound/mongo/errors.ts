import {
  type Document,
  MongoBulkWriteError,
  MongoError,
  MongoInvalidArgumentError,
  MongoServerError,
  MongoWriteConcernError,
} from 'mongodb';
import { CatalogueError, unavailable } from '../../../domain/errors.js';

const NAMESPACE_NOT_FOUND = 26;
const DUPLICATE_KEY = 11_000;
/** MaxTimeMSExpired, and QueryExceededMemoryLimitNoDiskUseAllowed: what a sort without an index ends with. */
const TOO_EXPENSIVE = new Set([50, 292]);

/** IndexOptionsConflict and IndexKeySpecsConflict. */
const INDEX_CONFLICT = new Set([85, 86]);

/**
 * A cursor that is gone, by time, a stop or a change of the indexes: the driver never asks for a next batch again. These
 * are the server's category CursorInvalidatedError.
 */
const CURSOR_LOST = [43, 96, 175, 237, 314];

/**
 * Codes of the server that another try can cure, beside what the driver labels. Numbers and categories are those of
 * https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml.
 */
const PASSING = new Set([
  ...CURSOR_LOST,
  // RetriableError: a host, a connection or the time is lacking, on the way or between the parts of a cluster.
  ...[6, 7, 89, 202, 262, 317, 384, 407, 515, 516, 9001],
  // RetriableError: a member stops, or is a primary no more, or not yet.
  ...[91, 189, 506, 10107, 11600, 11602, 13435, 13436],
  // RetriableError: a cluster changes its shards, its version or its checkpoint at the moment.
  ...[134, 358, 402, 406, 412, 453, 471, 485, 488, 50915, 91331, 10045600],
  // SystemOverloadedError.
  ...[433, 449, 450, 462, 473, 521, 526],
  // Interruption: somebody or something ended the operation.
  ...[24, 50, 279, 290, 355, 11601, 46841],
  // Stale routing and snapshots: what was to be read or written moved meanwhile, or is not there yet.
  ...[63, 150, 239, 246, 249, 250, 272, 13388],
  // A write met another, or a majority that did not acknowledge in time.
  ...[64, 112],
  // An election; and a second try of a write, of whose first the server has no record any more: its outcome is unknown.
  ...[216, 217, 225],
  // Nobody may write: an operator forbids it for a time, or the disk is full.
  ...[371, 507, 14031],
  // What the driver or the parts of a cluster meet on their way to a primary.
  ...[133, 145, 365, 10058],
  // AuthenticationFailed: while a password is being changed the service and the server have different ones.
  18,
]);

/** HandshakeError: a connection could not be made ready, so the command was not sent; Atlas has a code of its own for it. */
const PASSING_LABELS = [
  'RetryableWriteError',
  'TransientTransactionError',
  'SystemOverloadedError',
  'HandshakeError',
];

/** What Node calls the steps of a connection and of a look-up of names; a file has others. */
const CONNECTION_STEP = /^(?:connect|read|write|writev|shutdown|getaddrinfo|query\w+)$/;

/** Errors of Node's sockets, streams and of TLS that come from no system call, such as that of a socket that has been ended. */
const CONNECTION_CODE = /^(?:EPIPE|ECONNRESET|ETIMEDOUT|ERR_(?:STREAM|SOCKET|SSL|TLS)_\w+)$/;

/**
 * What the core is told of an error of the driver. An error that the server gave for a reason of its own stays as it
 * was; all others mean that the server was not there, or not in time, and that the outcome is unknown.
 */
export function toCoreError(error: unknown): unknown {
  if (error instanceof CatalogueError) return error;
  return isPassing(unwrapped(error)) ? unreachable(error) : error;
}

export function isDuplicateKey(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/** Whether the collection that was asked for does not exist. */
export function isCollectionMissing(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === NAMESPACE_NOT_FOUND;
}

/** Whether there is another index of that name, or one of those fields that differs in something else. */
export function isIndexConflict(error: unknown): boolean {
  return error instanceof MongoServerError && INDEX_CONFLICT.has(Number(error.code));
}

/** Whether the server gave a query up because of what it costs. */
export function isTooExpensive(error: unknown): boolean {
  return error instanceof MongoServerError && TOO_EXPENSIVE.has(Number(error.code));
}

/** Whether the server lost the place of a query between two batches, so that it has to be asked from its beginning. */
export function isCursorLost(error: unknown): boolean {
  return error instanceof MongoServerError && CURSOR_LOST.includes(Number(error.code));
}

/**
 * The index that refused a write: its name, and the first path of its key where the server tells that.
 * @throws Error where the server names no index
 */
export function violatedIndex(error: MongoServerError): { readonly name?: string; readonly path?: string } {
  const pattern: Document | undefined = error['keyPattern'];
  const [path] = Object.keys(pattern ?? {});
  return path === undefined ? { name: indexNamedIn(error.message, error) } : { path };
}

/**
 * Of an unordered insertion the documents that were refused, by their place in it, each with the name of the index that
 * refused it, which the driver leaves in the message alone.
 * @throws what `error` means, where anything else went wrong with one of them
 */
export function rejectedDocuments(error: unknown): ReadonlyMap<number, string> {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  if (error.result.getWriteConcernError()) throw unreachable(error);
  const refusals = [error.writeErrors].flat();
  if (refusals.length === 0) throw error;
  for (const { code } of refusals)
    if (code !== DUPLICATE_KEY) throw PASSING.has(code) ? unreachable(error) : error;
  return new Map(refusals.map(({ index, errmsg }) => [index, indexNamedIn(errmsg, error)]));
}

/**
 * MongoDB writes `… index: sku dup key: …`, the DocumentDB extension of PostgreSQL (Azure, FerretDB 2) writes
 * `Duplicate key violation on the requested collection: Index 'sku'`.
 */
function indexNamedIn(message: string | undefined, error: MongoError): string {
  const [, plain, quoted] = /\bindex:? (?:'([^']+)'|(\S+))/i.exec(message ?? '') ?? [];
  const name = plain ?? quoted;
  if (!name) throw new Error('The server does not name the index that refused.', { cause: error });
  return name;
}

/** An insertion of many gives every error out as if the server had answered with it. */
function unwrapped(error: unknown): unknown {
  const cause: unknown = error instanceof MongoBulkWriteError ? error.errorResponse : undefined;
  return cause instanceof Error ? cause : error;
}

function isPassing(error: unknown): boolean {
  if (!(error instanceof MongoError)) return isOfConnection(error);
  if (error instanceof MongoWriteConcernError) return true;
  if (!(error instanceof MongoServerError)) return !(error instanceof MongoInvalidArgumentError);
  const isLabelled = PASSING_LABELS.some((label) => error.hasErrorLabel(label));
  return isLabelled || PASSING.has(Number(error.code));
}

/**
 * Whether it is Node's own error of a connection or of a look-up of names. The driver hands such an error on as it is
 * where a socket fails while a command waits to be written, and where it asks for the SRV record of `mongodb+srv`.
 */
function isOfConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return CONNECTION_STEP.test(String(syscall)) || CONNECTION_CODE.test(String(code));
}

function unreachable(cause: unknown): CatalogueError {
  return unavailable('The store cannot be reached right now.', cause);
}
