import { PRODUCT } from '../../../../domain/product.js';
import { issueIn } from '../../../../domain/validation.js';
import type { ResponseErrorCode } from '../core/error-codes.js';
import type { HttpIssue, ParameterIssue } from '../core/http-error.js';

/** The members of an error, without its code. */
export interface ErrorExample {
  readonly message: string;
  readonly details: readonly HttpIssue[];
}

const withoutDetails = (message: string): ErrorExample => ({ message, details: [] });

const forParameter = (
  { in: where, name }: Pick<ParameterIssue, 'in' | 'name'>,
  { code, message }: Pick<ParameterIssue, 'code' | 'message'>,
) => ({ message, details: [{ code, message, in: where, name }] });

/** One response for each code, exactly as the service sends it. */
export const ERROR_EXAMPLES: Readonly<Record<ResponseErrorCode, ErrorExample>> = {
  malformed_json: withoutDetails('The body has the member "name" twice in one object, at line 1, column 13.'),
  malformed_csv: withoutDetails('The body has no header row.'),
  validation_failed: {
    message: 'The request body is invalid; see details.',
    details: [
      {
        code: 'too_short',
        message:
          'name must not be empty: it must be at most 200 characters, not only white space, no control character or lone surrogate.',
        in: 'body',
        pointer: '/name',
      },
      {
        code: 'required',
        message: 'price.currency is required: it must be three capital letters, such as EUR.',
        in: 'body',
        pointer: '/price/currency',
      },
      issueIn(PRODUCT, { code: 'unknown_field', path: ['colour'] }),
    ],
  },
  unknown_parameter: forParameter(
    { in: 'query', name: 'page' },
    {
      code: 'unknown_parameter',
      message: 'There is no parameter "page" here: there is fields.',
    },
  ),
  invalid_parameter: forParameter(
    { in: 'query', name: 'limit' },
    { code: 'out_of_range', message: 'The parameter limit takes a whole number from 1 to 1000.' },
  ),
  invalid_cursor: forParameter(
    { in: 'query', name: 'cursor' },
    { code: 'invalid_format', message: 'The parameter cursor was not issued by this list.' },
  ),
  cursor_mismatch: forParameter(
    { in: 'query', name: 'cursor' },
    { code: 'invalid_format', message: 'The parameter cursor belongs to another sort or filter.' },
  ),
  query_too_expensive: withoutDetails(
    'No index serves this query, and it did not finish in time. Request less, or filter and sort by other fields.',
  ),
  invalid_patch: {
    message: 'Operation 0 (the first is 0) cannot be applied: the location does not exist; see details.',
    details: [
      {
        code: 'reference_not_found',
        message: '0.path must lead to a place in the record.',
        in: 'body',
        pointer: '/0/path',
      },
    ],
  },
  invalid_idempotency_key: forParameter(
    { in: 'header', name: 'Idempotency-Key' },
    {
      code: 'invalid_format',
      message: 'Idempotency-Key must be 1 to 255 printable ASCII characters, once.',
    },
  ),
  unsupported_version: forParameter(
    { in: 'header', name: 'API-Version' },
    {
      code: 'out_of_range',
      message: 'API-Version (absent: 1) names an unknown version; this resource has only version 1.',
    },
  ),
  unauthenticated: withoutDetails(
    'This needs a token: send Authorization: Bearer and an API key or an access token.',
  ),
  invalid_token: withoutDetails('The service does not know this token.'),
  token_expired: withoutDetails('The API key has expired.'),
  insufficient_scope: withoutDetails('This needs the scope products:write.'),
  https_required: withoutDetails('This service is available only over HTTPS, through its proxy.'),
  not_found: withoutDetails('Not found.'),
  method_not_allowed: withoutDetails('DELETE cannot be used here; see Allow.'),
  not_acceptable: withoutDetails(
    'Accept matches no media type of the response: application/json or application/x-ndjson or text/csv.',
  ),
  request_timeout: withoutDetails('The request took too long to arrive.'),
  duplicate_value: {
    message: 'Another record has this sku.',
    details: [
      {
        code: 'duplicate_value',
        message: 'Another record has this sku.',
        in: 'body',
        pointer: '/sku',
        id: 1,
      },
    ],
  },
  patch_test_failed: {
    message: 'Operation 0, a test, found another value at "/price/amount".',
    details: [
      {
        code: 'patch_test_failed',
        message: 'Operation 0, a test, found another value at "/price/amount".',
        in: 'body',
        pointer: '/0',
      },
    ],
  },
  last_admin_key: withoutDetails(
    'This is the last key with the scope keys:admin. Make another one before you revoke it.',
  ),
  limit_reached: withoutDetails(
    'An API key has at most 100 webhooks, and a store 1000 in all. Delete one that is not needed.',
  ),
  cursor_expired: withoutDetails(
    'Changes behind this cursor may be missing. Take a new cursor and list again.',
  ),
  precondition_failed: withoutDetails('The record is no longer the version that the request names.'),
  payload_too_large: withoutDetails('The body is larger than 1048576 bytes.'),
  uri_too_long: withoutDetails('The URL, or that of the next page, is longer than 8192 bytes.'),
  unsupported_media_type: withoutDetails(
    'Send the body as application/json in UTF-8, without a content coding. Send application/x-ndjson to /v1/products/imports.',
  ),
  expectation_failed: withoutDetails('The only supported expectation is 100-continue.'),
  idempotency_key_reused: withoutDetails(
    'This idempotency key was used for another body. Use a new key for a new request.',
  ),
  precondition_required: withoutDetails('Say in If-Match which version you have seen.'),
  rate_limited: withoutDetails('Over 600 requests in one window; try again later.'),
  headers_too_large: withoutDetails('The headers are larger than 16384 bytes.'),
  internal_error: withoutDetails('Something went wrong in the service. It has been logged.'),
  unavailable: withoutDetails('The store cannot be used right now.'),
};
