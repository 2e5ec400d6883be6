import { MongoError, MongoInvalidArgumentError, MongoServerError, MongoWriteConcernError } from 'mongodb';
import { CatalogueError, unavailable } from '../../../domain/errors.js';

const DUPLICATE_KEY = 11_000;

/** Codes of the server that another try can cure, beside those that the driver labels: time-outs, steps down, stops. */
const PASSING = new Set([6, 7, 24, 50, 64, 89, 91, 112, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436]);

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

/** The path of the index that refused a write, such as `fields.sku` or `_id`. */
export function refusedPath(error: MongoServerError): string {
  const pattern: unknown = error['keyPattern'];
  return Object.keys(pattern ?? {})[0] ?? '';
}

function isPassing(error: MongoError): boolean {
  if (error instanceof MongoWriteConcernError) return true;
  if (!(error instanceof MongoServerError)) return !(error instanceof MongoInvalidArgumentError);
  const isLabelled = ['RetryableWriteError', 'TransientTransactionError'].some((label) =>
    error.hasErrorLabel(label),
  );
  return isLabelled || PASSING.has(Number(error.code));
}
