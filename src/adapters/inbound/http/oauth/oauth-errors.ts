import type { ResponseErrorCode } from '../core/error-codes.js';
import { type CodedError, HttpError } from '../core/http-error.js';

/** The documentation of an `error` of the token endpoint. */
export interface OAuthErrorEntry {
  /** The error codes of the service that can come with it. They determine the status. */
  readonly codes: readonly ResponseErrorCode[];
  readonly cause: string;
  /** What the client can do about it. */
  readonly remedy: string;
}

/** Each `error` of a response of the token endpoint (RFC 6749 section 5.2). */
export const OAUTH_ERRORS = {
  invalid_request: {
    codes: [
      'validation_failed',
      'unknown_parameter',
      'unsupported_version',
      'method_not_allowed',
      'not_acceptable',
      'request_timeout',
      'payload_too_large',
      'unsupported_media_type',
      'expectation_failed',
    ],
    cause:
      '`grant_type` is missing, a parameter is repeated, there are more than 100 parameters or two different clients, the body is not a form in UTF-8, or the HTTP message is invalid.',
    remedy:
      'POST `grant_type=client_credentials` as `application/x-www-form-urlencoded`, each parameter once, with the client in the header or in the body. `details` points into the form.',
  },
  invalid_client: {
    codes: ['unauthenticated', 'invalid_token', 'token_expired'],
    cause:
      'The client secret is missing, the client id and secret do not match, or the API key of the client has expired. `WWW-Authenticate` names the scheme `Basic`.',
    remedy:
      'Send the id of an API key as the client id and the key as the secret. A wrong secret counts as a failed authentication.',
  },
  unsupported_grant_type: {
    codes: ['validation_failed'],
    cause: '`grant_type` is not `client_credentials`, the only supported grant.',
    remedy: 'Send `grant_type=client_credentials`.',
  },
  invalid_scope: {
    codes: ['validation_failed'],
    cause:
      '`scope` names a scope that the API key does not have, contains an empty name, or is longer than 1,000 characters.',
    remedy: 'Request scopes of the API key, separated by single spaces, or omit `scope` to get all of them.',
  },
  temporarily_unavailable: {
    codes: ['rate_limited', 'unavailable'],
    cause: 'This IP address sent too many requests or failed authentications, or the service is unavailable.',
    remedy: 'Send the request again after the seconds in `Retry-After`.',
  },
} as const satisfies Readonly<Record<string, OAuthErrorEntry>>;

export type OAuthErrorCode = keyof typeof OAUTH_ERRORS;

/** Any character that an `error_description` may not contain. */
const FORBIDDEN = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g;

/** An error with the members of OAuth in addition to those of the service. */
export class OAuthError extends HttpError<ResponseErrorCode> {
  constructor(
    readonly error: OAuthErrorCode,
    { code, message, details }: CodedError,
  ) {
    super(code, message, details);
  }

  override get members(): { readonly error: OAuthErrorCode; readonly error_description: string } {
    return { error: this.error, error_description: this.message.replaceAll(FORBIDDEN, "'") };
  }
}
