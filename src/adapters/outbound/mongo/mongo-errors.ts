import {
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

/**
 * Codes of the server that another try can cure, beside those that the driver labels: time-outs, steps down, stops, and
 * a snapshot that is no more or not yet there.
 */
const PASSING = new Set([
  6, 7, 24, 50, 64, 89, 91, 112, 189, 239, 246, 262, 9001, 10107, 11600, 11602, 13435, 13436,
]);

/**
 * What the core is told of an error of the driver. An error that the server gave for a reason of its own stays as it
 * was; all others mean that the server was not there, or not in time, and that the outcome is unknown.
 */
export function toCoreError(error: unknown): unknown {
  if (error instanceof CatalogueError || !(error instanceof MongoError)) return error;
  return isPassing(error) ? unavailable('The store cannot be reached right now.', error) : error;
}

export function isDuplicateKey(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/** Whether the server gave a query up because of what it costs. */
export function isTooExpensive(error: unknown): boolean {
  return error instanceof MongoServerError && TOO_EXPENSIVE.has(Number(error.code));
}

/** The path of the index that refused a write, such as `fields.sku` or `_id`. */
export function refusedPath(error: MongoServerError): string {
  const pattern: unknown = error['keyPattern'];
  return Object.keys(pattern ?? {})[0] ?? '';
}

/**
 * Of an unordered insertion the documents that were refused, by their place in it, each with the name of the index that
 * refused it, which the driver leaves in the message alone.
 * @throws what `error` means, where anything else went wrong with one of them
 */
export function refusedDocuments(error: unknown): ReadonlyMap<number, string> {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  if (error.result.getWriteConcernError()) throw unavailable('The store cannot be reached right now.', error);
  const refusals = [error.writeErrors].flat();
  const other = refusals.find(({ code }) => code !== DUPLICATE_KEY);
  if (other || refusals.length === 0)
    throw PASSING.has(other?.code ?? 0)
      ? unavailable('The store cannot be reached right now.', error)
      : error;
  return new Map(
    refusals.map(({ index, errmsg }) => [index, / index: (\S+) /.exec(errmsg ?? '')?.[1] ?? '']),
  );
}

function isPassing(error: MongoError): boolean {
  if (error instanceof MongoWriteConcernError) return true;
  if (!(error instanceof MongoServerError)) return !(error instanceof MongoInvalidArgumentError);
  const isLabelled = ['RetryableWriteError', 'TransientTransactionError'].some((label) =>
    error.hasErrorLabel(label),
  );
  return isLabelled || PASSING.has(Number(error.code));
}
