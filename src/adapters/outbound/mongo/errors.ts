import {
  type Document,
  MongoBulkWriteError,
  MongoError,
  MongoInvalidArgumentError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
} from 'mongodb';
import { unreachable } from '../../../application/maintenance/circuit-breaker.js';
import { AppError } from '../../../domain/errors.js';

const NAMESPACE_NOT_FOUND = 26;
const DUPLICATE_KEY = 11_000;
/** MaxTimeMSExpired, and QueryExceededMemoryLimitNoDiskUseAllowed, which ends a large sort without an index. */
const TOO_EXPENSIVE = new Set([50, 292]);

/** IndexOptionsConflict and IndexKeySpecsConflict. */
const INDEX_CONFLICT = new Set([85, 86]);

/**
 * The cursor is gone: by time, a stop or a change of the indexes. The driver does not retry the next batch. These are
 * the server's category CursorInvalidatedError.
 */
const CURSOR_LOST = [43, 96, 175, 237, 314];

/**
 * Server errors that may pass by another try, in addition to those that the driver labels. Numbers and categories are
 * from https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml.
 */
const TRANSIENT = new Set([
  ...CURSOR_LOST,
  // RetriableError: a host or a connection is missing or too slow, also within a cluster.
  ...[6, 7, 89, 202, 262, 317, 384, 407, 515, 516, 9001],
  // RetriableError: a member stops, or is not the primary any more, or not yet.
  ...[91, 189, 506, 10107, 11600, 11602, 13435, 13436],
  // RetriableError: a cluster is changing its shards, its version or its checkpoint.
  ...[134, 358, 402, 406, 412, 453, 471, 485, 488, 50915, 91331, 10045600],
  // SystemOverloadedError.
  ...[433, 449, 450, 462, 473, 521, 526],
  // Interruption: the operation was killed.
  ...[24, 50, 279, 290, 355, 11601, 46841],
  // Stale routing and snapshots: the data moved meanwhile, or is not there yet.
  ...[63, 150, 239, 246, 249, 250, 272, 13388],
  // A write conflict, or a majority that did not acknowledge in time.
  ...[64, 112],
  // An election; and a retried write whose first try the server does not remember, so that its outcome is unknown.
  ...[216, 217, 225],
  // No writes: an operator blocked them, or the disk is full.
  ...[371, 507, 14031],
  // No primary was found.
  ...[133, 145, 365, 10058],
  // AuthenticationFailed: while a password is being changed, the service and the server have different ones.
  18,
]);

/** HandshakeError: the connection was not ready, so the command was not sent. Atlas has its own code for it. */
const TRANSIENT_LABELS = [
  'RetryableWriteError',
  'TransientTransactionError',
  'SystemOverloadedError',
  'HandshakeError',
];

/** Node's system calls of connections and of name look-ups; those of files differ. */
const CONNECTION_SYSCALL = /^(?:connect|read|write|writev|shutdown|getaddrinfo|query\w+)$/;

/** Node's errors of sockets, streams and TLS that come from no system call, such as that of an ended socket. */
const CONNECTION_CODE = /^(?:EPIPE|ECONNRESET|ETIMEDOUT|ERR_(?:STREAM|SOCKET|SSL|TLS)_\w+)$/;

/**
 * Translates an error of the driver. A definite error of the server is returned unchanged. Every other becomes
 * `unavailable`: the server did not respond, or not in time, and the outcome is unknown.
 */
export function translateError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  return isTransient(unwrapped(error)) ? unreachable(error) : error;
}

export function isDuplicateKey(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/** Whether the collection does not exist. */
export function isCollectionMissing(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === NAMESPACE_NOT_FOUND;
}

/** Whether another index has the same name, or the same key with other options. */
export function isIndexConflict(error: unknown): boolean {
  return error instanceof MongoServerError && INDEX_CONFLICT.has(Number(error.code));
}

/** What the error of a call tells about the store. Any error of the server is a response. */
export function signOf(error: unknown): 'response' | 'silence' | 'down' {
  const sent = unwrapped(error);
  if (sent instanceof MongoServerSelectionError) return 'down';
  return sent instanceof MongoServerError ? 'response' : 'silence';
}

/** Whether the server gave up on a query because of its cost. */
export function isTooExpensive(error: unknown): boolean {
  return error instanceof MongoServerError && TOO_EXPENSIVE.has(Number(error.code));
}

/** Whether the server lost the cursor of a query between two batches, so that the query has to start again. */
export function isCursorLost(error: unknown): boolean {
  return error instanceof MongoServerError && CURSOR_LOST.includes(Number(error.code));
}

/**
 * Returns the index that refused a write: the first path of its key; or its name, if the server sends no key.
 * @throws Error if the server names no index
 */
export function violatedIndex(error: MongoServerError): { readonly name?: string; readonly path?: string } {
  const pattern: Document | undefined = error['keyPattern'];
  const [path] = Object.keys(pattern ?? {});
  return path === undefined ? { name: indexNamedIn(error.message, error) } : { path };
}

/**
 * Returns the refused documents of an unordered insertion: for each index in the list of documents, the name of the
 * database index that refused it. The driver gives this name only in the message.
 * @throws the translation of `error`, if anything else went wrong with a document
 */
export function rejectedDocuments(error: unknown): ReadonlyMap<number, string> {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  if (error.result.getWriteConcernError()) throw unreachable(error);
  const refusals = [error.writeErrors].flat();
  if (refusals.length === 0) throw error;
  for (const { code } of refusals) if (code !== DUPLICATE_KEY) throw TRANSIENT.has(code) ? unreachable(error) : error;
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

/** The driver wraps every error of an insertion of many documents as if it came from the server. */
function unwrapped(error: unknown): unknown {
  const cause: unknown = error instanceof MongoBulkWriteError ? error.errorResponse : undefined;
  return cause instanceof Error ? cause : error;
}

function isTransient(error: unknown): boolean {
  if (!(error instanceof MongoError)) return isConnectionError(error);
  if (error instanceof MongoWriteConcernError) return true;
  if (!(error instanceof MongoServerError)) return !(error instanceof MongoInvalidArgumentError);
  const isLabelled = TRANSIENT_LABELS.some((label) => error.hasErrorLabel(label));
  return isLabelled || TRANSIENT.has(Number(error.code));
}

/**
 * Whether this is Node's own error of a connection or of a name look-up. The driver passes such an error on unchanged
 * if a socket fails while a command waits to be written, or if the look-up of the SRV record of `mongodb+srv` fails.
 */
function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return CONNECTION_SYSCALL.test(String(syscall)) || CONNECTION_CODE.test(String(code));
}
