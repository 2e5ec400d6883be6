import { STATUS_CODES } from 'node:http';
import { ERRORS } from '../core/error-codes.js';
import { type CodedError, HttpError, isCoded } from '../core/http-error.js';
import { JSON_TYPE, PROBLEM } from '../core/media-types.js';

/** The `Retry-After` of `unavailable`. */
const RETRY_AFTER_SECONDS = 1;

export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function statusOf({ code }: CodedError): number {
  return ERRORS[code].status;
}

/** The error as JSON: `code`, `message` and `details`. */
export function errorResponse(error: CodedError): ErrorResponse {
  return response(error, JSON_TYPE, membersOf(error));
}

/** The error as a problem (RFC 9457 section 3.1), with the members of {@link errorResponse}. */
export function problemResponse(error: CodedError): ErrorResponse {
  const status = statusOf(error);
  const problem = { type: 'about:blank', title: STATUS_CODES[status], status, detail: error.message };
  return response(error, PROBLEM, { ...problem, ...membersOf(error) });
}

function membersOf(error: CodedError): object {
  const { code, message, details } = error;
  return { ...(error instanceof HttpError && error.members), code, message, details };
}

function response(error: CodedError, type: string, body: object): ErrorResponse {
  return {
    status: statusOf(error),
    headers: {
      'Content-Type': type,
      'Cache-Control': 'no-store',
      ...(error.code === 'unavailable' && { 'Retry-After': String(RETRY_AFTER_SECONDS) }),
    },
    body: JSON.stringify(body),
  };
}

/** An error without a code is a defect: the client gets `internal_error` and no detail of it. */
export function toCodedError(error: unknown): CodedError {
  if (isCoded(error)) return error;
  return new HttpError('internal_error', 'Something went wrong in the service. It has been logged.', [], {
    cause: error,
  });
}
