import {
  type Document,
  MongoBulkWriteError,
  MongoError,
  MongoInvalidArgumentError,
  MongoServerError,
  MongoWriteConcernError,
} from 'mongodb';
import { CatalogueError, unavailable } from '../../../domain/errors.js';

const DUPLICATE_KEY = 11_000;
/** MaxTimeMSExpired, and QueryExceededMemoryLimitNoDiskUseAllowed: what a sort without an index ends with. */
const TOO_EXPENSIVE = new Set([50, 292]);

/** IndexOptionsConflict and IndexKeySpecsConflict. */
const INDEX_CONFLICT = new Set([85, 86]);

/** A cursor that is gone, by time, a stop or a change of the indexes: the driver never asks for a next batch again. */
const CURSOR_LOST = [43, 175, 237];

/** Codes of the server that another try can cure, beside what the driver labels. */
const PASSING = new Set([
  ...CURSOR_LOST,
  // A host or the time is lacking, on the way or between the parts of a cluster.
  ...[6, 7, 24, 50, 64, 89, 133, 145, 202, 262, 317, 365, 9001],
  // A member stops, or is a primary no more, or not yet.
  ...[91, 189, 10058, 10107, 11600, 11601, 11602, 13435, 13436],
  // What was to be read or written moved meanwhile, from a shard or out of a snapshot, or is not there yet.
  ...[63, 112, 134, 150, 239, 246, 249, 250, 272, 13388],
]);

const PASSING_LABELS = ['RetryableWriteError', 'TransientTransactionError', 'SystemOverloadedError'];

/**
 * What the core is told of an error of the driver. An error that the server gave for a reason of its own stays as it
 * was; all others mean that the server was not there, or not in time, and that the outcome is unknown.
 */
export function toCoreError(error: unknown): unknown {
  if (error instanceof CatalogueError || !(error instanceof MongoError)) return error;
  return isPassing(undressed(error)) ? unreachable(error) : error;
}

export function isDuplicateKey(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
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
export function hasLostItsCursor(error: unknown): boolean {
  return error instanceof MongoServerError && CURSOR_LOST.includes(Number(error.code));
}

/** The path of the index that refused a write, such as `fields.sku` or `_id`. */
export function refusedPath(error: MongoServerError): string {
  const pattern: Document | undefined = error['keyPattern'];
  const [path] = Object.keys(pattern ?? {});
  if (path === undefined)
    throw new Error('The server does not name the index that refused.', { cause: error });
  return path;
}

/**
 * Of an unordered insertion the documents that were refused, by their place in it, each with the name of the index that
 * refused it, which the driver leaves in the message alone.
 * @throws what `error` means, where anything else went wrong with one of them
 */
export function refusedDocuments(error: unknown): ReadonlyMap<number, string> {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  if (error.result.getWriteConcernError()) throw unreachable(error);
  const refusals = [error.writeErrors].flat();
  if (refusals.length === 0) throw error;
  for (const { code } of refusals)
    if (code !== DUPLICATE_KEY) throw PASSING.has(code) ? unreachable(error) : error;
  return new Map(refusals.map(({ index, errmsg }) => [index, indexNamedIn(errmsg, error)]));
}

function indexNamedIn(message: string | undefined, error: MongoError): string {
  const name = message && / index: (\S+) /.exec(message)?.[1];
  if (!name) throw new Error('The server does not name the index that refused.', { cause: error });
  return name;
}

/** An insertion of many gives every error out as if the server had answered with it. */
function undressed(error: MongoError): MongoError {
  const cause: unknown = error instanceof MongoBulkWriteError ? error.errorResponse : undefined;
  return cause instanceof MongoError ? cause : error;
}

function isPassing(error: MongoError): boolean {
  if (error instanceof MongoWriteConcernError) return true;
  if (!(error instanceof MongoServerError)) return !(error instanceof MongoInvalidArgumentError);
  const isLabelled = PASSING_LABELS.some((label) => error.hasErrorLabel(label));
  return isLabelled || PASSING.has(Number(error.code));
}

function unreachable(cause: unknown): CatalogueError {
  return unavailable('The store cannot be reached right now.', cause);
}
