import { AppError, type Issue } from '../../../../domain/errors.js';
import type { HttpErrorCode, ResponseErrorCode } from './error-codes.js';
import type { HttpIssueCode } from './issue-codes.js';

/** An issue of a query parameter or a header. */
export interface ParameterIssue {
  readonly code: HttpIssueCode;
  readonly message: string;
  readonly in: 'query' | 'header';
  readonly name: string;
}

/** An entry of `details`. */
export type HttpIssue = Issue | ParameterIssue;

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
