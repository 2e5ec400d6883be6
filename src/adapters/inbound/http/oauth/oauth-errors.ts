import type { ResponseErrorCode } from '../response/error-codes.js';
import { type CodedError, HttpError } from '../response/http-error.js';

/** RFC 6749 section 5.2. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'temporarily_unavailable';

/** Any character that an `error_description` may not contain. */
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

/** The documentation of an `error` of the token endpoint. */
export interface OAuthErrorEntry {
  /** The codes of the service that go with it. They determine the status. */
  readonly codes: readonly ResponseErrorCode[];
  readonly cause: string;
  /** What the client can do about it. */
  readonly remedy: string;
}

/** RFC 6749 section 5.2. A missing code does not compile. */
export const OAUTH_ERRORS: Readonly<Record<OAuthErrorCode, OAuthErrorEntry>> = {
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
      'The request is not a token request: `grant_type` is missing, a parameter is repeated, there are more than 100 parameters, the client is named in two ways, the body is not a form in UTF-8, or the message is one that any address would refuse.',
    remedy:
      'Send `grant_type=client_credentials` as `application/x-www-form-urlencoded` by POST, each parameter once, the client in the header or in the body. `details` points into the form.',
  },
  invalid_client: {
    codes: ['unauthenticated', 'invalid_token', 'token_expired'],
    cause:
      'No client secret was sent; or there is no client with this id and this secret; or the API key that is the client has expired. `WWW-Authenticate` names the scheme `Basic`.',
    remedy:
      'Send the id of an API key as the client id and the key as the secret. A wrong secret counts as a failed authentication.',
  },
  unsupported_grant_type: {
    codes: ['validation_failed'],
    cause: '`grant_type` is not `client_credentials`, the only one there is.',
    remedy: 'Send `grant_type=client_credentials`.',
  },
  invalid_scope: {
    codes: ['validation_failed'],
    cause:
      '`scope` names what the API key does not have, holds an empty name, or is longer than 1,000 characters.',
    remedy:
      'Ask for some of the key’s scopes, with one space between two, or leave `scope` out for all of them.',
  },
  temporarily_unavailable: {
    codes: ['rate_limited', 'unavailable'],
    cause:
      'Too many requests or failed authentications came from this address, or the service cannot answer now.',
    remedy: 'Wait as many seconds as `Retry-After` says, then ask again.',
  },
};
