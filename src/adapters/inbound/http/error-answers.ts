import { STATUS_CODES } from 'node:http';
import { CatalogueError, type ErrorCode } from '../../../domain/errors.js';
import { OAuthError } from './oauth/oauth-error.js';

/** The one place where an error becomes a status. A code that is forgotten here does not compile. */
const STATUS: Record<ErrorCode, number> = {
  malformed_json: 400,
  validation_failed: 400,
  unknown_parameter: 400,
  invalid_parameter: 400,
  invalid_cursor: 400,
  cursor_mismatch: 400,
  query_too_expensive: 400,
  invalid_patch: 400,
  invalid_idempotency_key: 400,
  unsupported_version: 400,
  unauthenticated: 401,
  invalid_token: 401,
  token_expired: 401,
  insufficient_scope: 403,
  https_required: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  request_timeout: 408,
  duplicate_value: 409,
  patch_test_failed: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  expectation_failed: 417,
  idempotency_key_reused: 422,
  precondition_required: 428,
  rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
  unavailable: 503,
};

/** Seconds after which a client may try again when the service could not answer. */
const RETRY_AFTER_SECONDS = 1;

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function statusOf({ code }: CatalogueError): number {
  return STATUS[code];
}

/** @param asProblem RFC 9457 in the place of the service's own shape */
export function errorAnswer(error: CatalogueError, asProblem = false): ErrorAnswer {
  const { code, message, details } = error;
  const status = statusOf(error);
  const own = { ...(error instanceof OAuthError && error.members), code, message, details };
  const body = asProblem
    ? { type: 'about:blank', title: STATUS_CODES[status], status, detail: message, ...own }
    : own;
  return {
    status,
    headers: {
      'Content-Type': asProblem ? 'application/problem+json' : 'application/json',
      'Cache-Control': 'no-store',
      ...(code === 'unavailable' && { 'Retry-After': String(RETRY_AFTER_SECONDS) }),
    },
    body: JSON.stringify(body),
  };
}

/** Anything but a CatalogueError is a defect: the client is told so and nothing more. */
export function asCatalogueError(error: unknown): CatalogueError {
  if (error instanceof CatalogueError) return error;
  return new CatalogueError('internal_error', 'Something went wrong in the service. It has been noted.', [], {
    cause: error,
  });
}
