import { CatalogueError } from '../../../../domain/errors.js';

/** RFC 6749 section 5.2. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'temporarily_unavailable';

/** Any character that an `error_description` may not have. */
const FORBIDDEN = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g;

/** An error of the service's own, told in the words of OAuth too. */
export class OAuthError extends CatalogueError {
  constructor(
    readonly error: OAuthErrorCode,
    { code, message, details }: CatalogueError,
  ) {
    super(code, message, details);
  }

  /** What the answer has beside what every error has. */
  get members(): { readonly error: OAuthErrorCode; readonly error_description: string } {
    return { error: this.error, error_description: this.message.replaceAll(FORBIDDEN, "'") };
  }
}
