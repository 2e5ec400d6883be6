import { STATUS_CODES } from 'node:http';
import { AppError } from '../../../../domain/errors.js';
import {
  ERRORS,
  type HttpErrorCode,
  type HttpIssue,
  type HttpIssueCode,
  type ParameterIssue,
  type ResponseErrorCode,
} from './error-codes.js';
import { JSON_TYPE, PROBLEM } from './media-types.js';

/** An error of HTTP itself. It has the same members as the domain's error, so responses show both alike. */
export class HttpError<Code extends ResponseErrorCode = HttpErrorCode> extends Error {
  override readonly name = 'HttpError';

  /** What a protocol adds to the response, such as OAuth. */
  get members(): Readonly<Record<string, string>> {
    return {};
  }

  constructor(
    readonly code: Code,
    message: string,
    readonly details: readonly HttpIssue[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** An error with a code. Any other error is a defect. */
export type CodedError = AppError | HttpError<ResponseErrorCode>;

export function isCoded(error: unknown): error is CodedError {
  return error instanceof AppError || error instanceof HttpError;
}

export function parameterIssue(
  where: ParameterIssue['in'],
  name: string,
  code: HttpIssueCode,
  message: string,
): ParameterIssue {
  return { code, message, in: where, name };
}

/** @param issues each issue with its error code. If the codes differ, the error is `invalid_parameter`. */
export function invalidParameters(issues: readonly (readonly [HttpErrorCode, ParameterIssue])[]): HttpError {
  const codes = new Set(issues.map(([code]) => code));
  const [code = 'invalid_parameter'] = codes.size === 1 ? codes : [];
  const details = issues.map(([, issue]) => issue);
  return new HttpError(code, details.map(({ message }) => message).join(' '), details);
}

export function invalidHeader(name: string, code: HttpIssueCode, message: string): HttpError {
  return invalidParameters([['invalid_parameter', parameterIssue('header', name, code, message)]]);
}

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

/** The error as JSON: `code`, `message` and `details`; as a problem (RFC 9457 section 3.1) with more members before. */
export function errorResponse(error: CodedError, type: typeof JSON_TYPE | typeof PROBLEM = JSON_TYPE): ErrorResponse {
  const { code, message, details } = error;
  const status = statusOf(error);
  return {
    status,
    headers: {
      'Content-Type': type,
      'Cache-Control': 'no-store',
      ...(code === 'unavailable' && { 'Retry-After': String(RETRY_AFTER_SECONDS) }),
    },
    body: JSON.stringify({
      ...(type === PROBLEM && { type: 'about:blank', title: STATUS_CODES[status], status, detail: message }),
      ...(error instanceof HttpError && error.members),
      code,
      message,
      details,
    }),
  };
}

/** An error without a code is a defect: the client gets `internal_error` and no detail of it. */
export function toCodedError(error: unknown): CodedError {
  if (isCoded(error)) return error;
  return new HttpError('internal_error', 'Something went wrong in the service. It has been logged.', [], {
    cause: error,
  });
}
