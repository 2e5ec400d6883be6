import type { ResponseErrorCode } from '../response/error-codes.js';
import { type CodedError, HttpError } from '../response/http-error.js';

/** RFC 6749 section 5.2. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'temporarily_unavailable';

/** Any character that an `error_description` may not have. */
const FORBIDDEN = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g;

/** An error of the service with the members of OAuth. */
export class OAuthError extends HttpError<ResponseErrorCode> {
  constructor(
    readonly error: OAuthErrorCode,
    { code, message, details }: CodedError,
  ) {
    super(code, message, details);
  }

  /** The members that OAuth adds to the response. */
  get members(): { readonly error: OAuthErrorCode; readonly error_description: string } {
    return { error: this.error, error_description: this.message.replaceAll(FORBIDDEN, "'") };
  }
}
