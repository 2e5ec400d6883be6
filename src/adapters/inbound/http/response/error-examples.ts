import type { ResponseErrorCode } from './error-codes.js';
import type { HttpIssue, ParameterIssue } from './http-error.js';

/** What an error says beside its code. */
export interface ErrorExample {
  readonly message: string;
  readonly details: readonly HttpIssue[];
}

const alone = (message: string): ErrorExample => ({ message, details: [] });

const ofParameter = (
  { in: where, name }: Pick<ParameterIssue, 'in' | 'name'>,
  { code, message }: Pick<ParameterIssue, 'code' | 'message'>,
) => ({ message, details: [{ code, message, in: where, name }] });

/** One answer of each code, word for word as the service gives it. */
export const ERROR_EXAMPLES: Readonly<Record<ResponseErrorCode, ErrorExample>> = {
  malformed_json: alone('The body has the member "name" twice in one object.'),
  validation_failed: {
    message: 'The request body is invalid; see details.',
    details: [
      { code: 'too_short', message: 'name is too short.', in: 'body', pointer: '/name' },
      { code: 'required', message: 'price.currency is required.', in: 'body', pointer: '/price/currency' },
      { code: 'unknown_field', message: 'colour is not a field.', in: 'body', pointer: '/colour' },
    ],
  },
  unknown_parameter: ofParameter(
    { in: 'query', name: 'page' },
    { code: 'unknown_parameter', message: 'There is no parameter "page" here.' },
  ),
  invalid_parameter: ofParameter(
    { in: 'query', name: 'limit' },
    { code: 'out_of_range', message: 'The parameter limit takes a whole number from 1 to 1000.' },
  ),
  invalid_cursor: ofParameter(
    { in: 'query', name: 'cursor' },
    { code: 'invalid_format', message: 'The parameter cursor is not one that this list gave.' },
  ),
  cursor_mismatch: ofParameter(
    { in: 'query', name: 'cursor' },
    { code: 'invalid_format', message: 'The parameter cursor belongs to another sort or filter.' },
  ),
  query_too_expensive: alone(
    'No index serves this query, and it was not done in time. Ask for less, or filter and sort by other fields.',
  ),
  invalid_patch: {
    message: 'Operation 0 (the first is 0) cannot be applied: there is no such place; see details.',
    details: [
      {
        code: 'reference_not_found',
        message: '0.path names nothing that exists.',
        in: 'body',
        pointer: '/0/path',
      },
    ],
  },
  invalid_idempotency_key: ofParameter(
    { in: 'header', name: 'Idempotency-Key' },
    {
      code: 'invalid_format',
      message: 'Idempotency-Key is to be 1 to 255 printable ASCII characters, once.',
    },
  ),
  unsupported_version: ofParameter(
    { in: 'header', name: 'API-Version' },
    {
      code: 'out_of_range',
      message:
        'API-Version (absent: 1) names a version that is not there; this resource has version 1 alone.',
    },
  ),
  unauthenticated: alone('This needs a token: send Authorization: Bearer and an API key or an access token.'),
  invalid_token: alone('The token is not one that this service knows.'),
  token_expired: alone('The API key has expired.'),
  insufficient_scope: alone('This needs the scope products:write.'),
  https_required: alone('This service is served over HTTPS alone, by its proxy.'),
  not_found: alone('There is nothing at this address.'),
  method_not_allowed: alone('DELETE cannot be used here; see Allow.'),
  not_acceptable: alone(
    'Answers come as application/json or application/x-ndjson; Accept fits nothing of that.',
  ),
  request_timeout: alone('The request took too long to arrive.'),
  duplicate_value: {
    message: 'Another record has this sku.',
    details: [
      { code: 'duplicate_value', message: 'Another record has this sku.', in: 'body', pointer: '/sku' },
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
  last_admin_key: alone(
    'This is the last key with the scope keys:admin. Make another one before you revoke it.',
  ),
  precondition_failed: alone('The record is no longer the version that the request names.'),
  payload_too_large: alone('The body is larger than 1048576 bytes.'),
  uri_too_long: alone('The address, or one that the answer would lead to, is longer than 8192 bytes.'),
  unsupported_media_type: alone(
    'The body is to be sent as application/json or application/x-ndjson in UTF-8, with no content coding.',
  ),
  expectation_failed: alone('The one expectation that is met is 100-continue.'),
  idempotency_key_reused: alone(
    'This idempotency key was used for another body. Use a new key for a new request.',
  ),
  precondition_required: alone('Say in If-Match which version you have seen.'),
  rate_limited: alone('Over 600 requests in one window; try again later.'),
  headers_too_large: alone('The headers are larger than 16384 bytes.'),
  internal_error: alone('Something went wrong in the service. It has been noted.'),
  unavailable: alone('The store cannot be used right now.'),
};
