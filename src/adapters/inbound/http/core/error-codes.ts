import type { ErrorCode, Issue, IssueCode } from '../../../../domain/errors.js';
import { PRODUCT } from '../../../../domain/product.js';
import { issueIn } from '../../../../domain/validation.js';

/** The error codes of HTTP, in addition to those of the domain. Every code is in the public contract. */
export type HttpErrorCode =
  | 'malformed_json'
  | 'malformed_csv'
  | 'unknown_parameter'
  | 'invalid_parameter'
  | 'invalid_cursor'
  | 'cursor_mismatch'
  | 'invalid_idempotency_key'
  | 'unsupported_version'
  | 'https_required'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'request_timeout'
  | 'uri_too_long'
  | 'unsupported_media_type'
  | 'expectation_failed'
  | 'headers_too_large'
  | 'internal_error';

/** Every code that a response can have. */
export type ResponseErrorCode = ErrorCode | HttpErrorCode;

/** The issue codes of the domain, and those of HTTP. */
export type HttpIssueCode = IssueCode | 'unknown_parameter';

/** An issue of a query parameter or a header. */
export interface ParameterIssue {
  readonly code: HttpIssueCode;
  readonly message: string;
  readonly in: 'query' | 'header';
  readonly name: string;
}

/** An entry of `details`. */
export type HttpIssue = Issue | ParameterIssue;

/** The documentation of a code, in the OpenAPI document and so at `/docs`. */
export interface ErrorEntry {
  readonly status: number;
  readonly cause: string;
  /** What the client can do about it. */
  readonly remedy: string;
  /** One response, exactly as the service sends it, without the code. */
  readonly example: { readonly message: string; readonly details?: readonly HttpIssue[] };
}

/** A response with a code, exactly as the service sends it. */
export function exampleOf(code: ResponseErrorCode) {
  const { message, details = [] } = ERRORS[code].example;
  return { code, message, details };
}

function ofParameter(
  where: ParameterIssue['in'],
  name: string,
  code: HttpIssueCode,
  message: string,
): ErrorEntry['example'] {
  return { message, details: [{ code, message, in: where, name }] };
}

/** The status and the documentation of each code. A missing code does not compile. */
export const ERRORS: Readonly<Record<ResponseErrorCode, ErrorEntry>> = {
  malformed_json: {
    status: 400,
    cause:
      'The body, or a line of an import, is not valid JSON: it is empty, malformed, not UTF-8, starts with a byte order mark, is nested deeper than 20 levels, or has an object with a duplicate member or one named `__proto__`.',
    remedy:
      'Send one JSON value in UTF-8. The message names the cause with its line and column, which count from 1 (Unicode code points).',
    example: { message: 'The body has the member "name" twice in one object, at line 1, column 13.' },
  },
  malformed_csv: {
    status: 400,
    cause:
      'A CSV import has no header row, or it is malformed. In the result of a record: it has more or fewer cells than the header row, a value in a column without a name, a quotation mark that is not closed or stands in a cell without quotes, a carriage return outside quotes, or bytes that are not UTF-8.',
    remedy:
      'Write CSV by RFC 4180 in UTF-8, which spreadsheets call "CSV UTF-8": quote a cell that contains a comma, a line end or a quotation mark, and double that mark. The message names the cell.',
    example: { message: 'The body has no header row.' },
  },
  validation_failed: {
    status: 400,
    cause:
      'The body is valid JSON but breaks the rules of the resource. For a PATCH, the resulting record is validated, and the pointers refer to it. For a CSV import as a whole, its header row names a column that is unknown, repeated or read-only, or omits a required one.',
    remedy:
      'Fix every issue in `details`, which lists at most 1,000. You may send the corrected body with the same `Idempotency-Key`.',
    example: {
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
  },
  unknown_parameter: {
    status: 400,
    cause:
      'The query has a parameter that this operation does not accept, a filter on a field that cannot be filtered, or an operator that the field does not support.',
    remedy: 'Remove or rename the parameters in `details`.',
    example: ofParameter('query', 'page', 'unknown_parameter', 'There is no parameter "page" here: there is fields.'),
  },
  invalid_parameter: {
    status: 400,
    cause:
      'A query parameter or header is malformed, out of range or repeated, or a query has issues of several kinds. Also a missing `Host`, and a message that is not valid HTTP/1.1 (then without details).',
    remedy: 'Correct the parameters and headers in `details`, which lists at most 100 issues of a query.',
    example: ofParameter('query', 'limit', 'out_of_range', 'The parameter limit takes a whole number from 1 to 1000.'),
  },
  invalid_cursor: {
    status: 400,
    cause: 'This list did not issue the `cursor`: it was truncated, edited or invented, or belongs to another list.',
    remedy: 'Follow the URLs in the `Link` header unchanged, or start again with the first page.',
    example: ofParameter('query', 'cursor', 'invalid_format', 'The parameter cursor was not issued by this list.'),
  },
  cursor_mismatch: {
    status: 400,
    cause:
      'The `cursor` belongs to another sort or other filters; for facets to another field, prefix or filter; for changes to another resource or other `fields`.',
    remedy: 'Start the new query without a cursor. Between the pages of a list only `limit` and `fields` may change.',
    example: ofParameter(
      'query',
      'cursor',
      'invalid_format',
      'The parameter cursor belongs to another sort, filter or distinct.',
    ),
  },
  query_too_expensive: {
    status: 400,
    cause:
      'A list that no index serves, an exact count, or facets did not finish within `QUERY_TIMEOUT_MS` (2,000 milliseconds by default).',
    remedy:
      'A retry does not help. Filter by the field that you sort by, or filter one field by equality and sort by id; omit `Prefer: count=exact`; ask for facets under a narrower filter; or export everything and select from that.',
    example: {
      message:
        'No index serves this query, and it did not finish in time. Request less, or filter and sort by other fields.',
    },
  },
  invalid_patch: {
    status: 400,
    cause:
      'The JSON Patch violates RFC 6902, has more than 1,000 operations, has a `path` or `from` with more than 100 steps or one that does not exist in the record, or adds and copies more than 50,000 values or 20 levels. The record is unchanged.',
    remedy:
      'The pointers in `details` refer to the patch: `/3/path` is the path of the fourth operation. A field without a value does not exist, so it can be added, but not replaced or removed.',
    example: {
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
  },
  invalid_idempotency_key: {
    status: 400,
    cause:
      '`Idempotency-Key` is not 1 to 255 printable ASCII characters, or is repeated; or an import with `match` or `dryRun=true` has one.',
    remedy: 'Send one key, for example a UUID. Repeat such an import without one.',
    example: ofParameter(
      'header',
      'Idempotency-Key',
      'invalid_format',
      'Idempotency-Key must be 1 to 255 printable ASCII characters, once.',
    ),
  },
  unsupported_version: {
    status: 400,
    cause: 'The header `API-Version` is not `1`, the only version. It is checked even if the path names a version.',
    remedy: 'Omit the header or send `API-Version: 1`.',
    example: ofParameter(
      'header',
      'API-Version',
      'out_of_range',
      'API-Version (absent: 1) names an unknown version; this resource has only version 1.',
    ),
  },
  unauthenticated: {
    status: 401,
    cause:
      'The request needs a credential and has no `Authorization` header, or one with a scheme other than `Bearer`. At the token endpoint: no client secret was sent.',
    remedy:
      'Send `Authorization: Bearer` with an API key or an access token. `WWW-Authenticate` says where to get a token.',
    example: { message: 'This needs a token: send Authorization: Bearer and an API key or an access token.' },
  },
  invalid_token: {
    status: 401,
    cause:
      'The API key or access token is mistyped, revoked, from another issuer, for another audience, or has an invalid signature. At the token endpoint: the client id and the secret do not match.',
    remedy:
      'Do not retry with the same credential: failures count against your IP address. Get a new access token or API key.',
    example: { message: 'The service does not know this token.' },
  },
  token_expired: {
    status: 401,
    cause: 'The API key (`expiresAt`) or access token has expired. Access tokens of this service last 10 minutes.',
    remedy: 'Get a new one and send the request again.',
    example: { message: 'The API key has expired.' },
  },
  insufficient_scope: {
    status: 403,
    cause:
      'The credential is valid but does not have the scope for this operation, for a scope of the API key to create, or for a resource of the webhook. Also a webhook of a token that belongs to no API key.',
    remedy: 'Use a credential that has the scopes that the message and `scope` in `WWW-Authenticate` name.',
    example: { message: 'This needs the scope products:write.' },
  },
  https_required: {
    status: 403,
    cause:
      'The service runs behind a proxy that terminates TLS, and the request bypassed the proxy or reached it over plain HTTP.',
    remedy:
      'Use the `https` URL of the service. Revoke a token that was sent over plain HTTP: others may have read it.',
    example: { message: 'This service is available only over HTTPS, through its proxy.' },
  },
  not_found: {
    status: 404,
    cause:
      'The path does not exist, such as one with a trailing slash or an unknown version, or no record has this id, SKU or e-mail address. In an import: no record has the key of the line, and a `version` or `match=id` demands one.',
    remedy: 'Check the path. A deleted record never comes back, and its id is never reused.',
    example: { message: 'Not found.' },
  },
  method_not_allowed: {
    status: 405,
    cause:
      'The path exists but does not support this method: POST is for collections; PUT, PATCH and DELETE are for items.',
    remedy: 'Use one of the methods in the `Allow` header.',
    example: { message: 'DELETE cannot be used here; see Allow.' },
  },
  not_acceptable: {
    status: 406,
    cause: '`Accept` matches none of the media types of the response, or requires a charset other than UTF-8.',
    remedy: 'Accept a type that the message names, or omit the header.',
    example: {
      message: 'Accept matches no media type of the response: application/json or application/x-ndjson or text/csv.',
    },
  },
  request_timeout: {
    status: 408,
    cause: 'The headers did not arrive within 10 seconds or the whole request within 30, or the body was incomplete.',
    remedy: 'Send the request again on a new connection. Send many records as an import, which may take any time.',
    example: { message: 'The request took too long to arrive.' },
  },
  duplicate_value: {
    status: 409,
    cause:
      'Another record has the same value in a unique field, such as `sku` of products, or `email` of users, ignoring case. `details` names the field, and the `id` of that record if you may read it.',
    remedy: 'Choose another value, or change the existing record, for example by a PUT to `/v1/products/sku/L-1`.',
    example: {
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
  },
  patch_test_failed: {
    status: 409,
    cause:
      'A `test` operation of a JSON Patch found a different value, or none, at its path. The record is unchanged. `details` points to the operation.',
    remedy: 'Read the record again and create a new patch.',
    example: {
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
  },
  last_admin_key: {
    status: 409,
    cause:
      'The API key is the last unexpired one with the scope `keys:admin`; without it nobody could manage keys over HTTP.',
    remedy:
      'Create another key with `keys:admin` first. On the machine itself, `catalogue keys revoke` revokes even the last one.',
    example: {
      message: 'This is the last key with the scope keys:admin. Make another one before you revoke it.',
    },
  },
  limit_reached: {
    status: 409,
    cause:
      'The API key has 100 webhooks, by `createdBy`, or the store has 1,000. A PATCH that makes the key `createdBy` counts too.',
    remedy:
      'Delete a webhook that is not needed: `GET /v1/webhooks?createdBy=1` lists those of a key. One webhook may name several `resources`.',
    example: {
      message: 'An API key has at most 100 webhooks, and a store 1000 in all. Delete one that is not needed.',
    },
  },
  cursor_expired: {
    status: 410,
    cause:
      'Changes after the `cursor` may be missing: it is over 50 hours old, or since then the store was restored, copied or reset, or recorded no changes for a time (`CHANGES=off`).',
    remedy: 'Take a new cursor, by a request without one, and then list again.',
    example: { message: 'Changes behind this cursor may be missing. Take a new cursor and list again.' },
  },
  precondition_failed: {
    status: 412,
    cause:
      '`If-Match` does not name the current version of the record, because another client changed it or the store was restored; or `If-None-Match` on a write names it or is `*`. In an import: the `version` of the line is not the current one. The record is unchanged.',
    remedy:
      'Read the record again, apply your change to it, and send it with the new `ETag`. This response has that `ETag` too, the result of a line the `version`.',
    example: { message: 'The record is no longer the version that the request names.' },
  },
  payload_too_large: {
    status: 413,
    cause:
      'The body, or a line of an import, is larger than `BODY_LIMIT_BYTES` (1 MiB by default; a form at `/oauth/token` 16 KiB) or has more than 10,000 JSON names and values, or CSV columns. In a dry run: those of this client keep 32 MiB of records already, or an earlier line of the same key was refused.',
    remedy: 'Send less in one body, or many records as an import, whose length is not limited. Split a dry run.',
    example: { message: 'The body is larger than 1048576 bytes.' },
  },
  uri_too_long: {
    status: 414,
    cause: 'The URL with its query is longer than 8 KiB (8,192 bytes), or the URL of the next page would be.',
    remedy: 'Shorten the query, for example with fewer values of `.in`.',
    example: { message: 'The URL, or that of the next page, is longer than 8192 bytes.' },
  },
  unsupported_media_type: {
    status: 415,
    cause:
      'The body has no `Content-Type`, one that the operation does not accept, a charset other than UTF-8, or a `Content-Encoding`.',
    remedy:
      'Send the body uncompressed, in a media type and to the path that the message names. For PATCH see also `Accept-Patch`.',
    example: {
      message:
        'Send the body as application/json in UTF-8, without a content coding. Send application/x-ndjson to /v1/products/imports.',
    },
  },
  expectation_failed: {
    status: 417,
    cause: 'The header `Expect` has a value other than `100-continue`.',
    remedy: 'Omit the header.',
    example: { message: 'The only supported expectation is 100-continue.' },
  },
  idempotency_key_reused: {
    status: 422,
    cause:
      'This `Idempotency-Key` was used in this collection for another body, or once for an import and once for a single record. In an import: this line was different when the stream was first sent.',
    remedy:
      'To retry, send the same body; to send another, use a new key. You may append lines to an import, but not move them.',
    example: { message: 'This idempotency key was used for another body. Use a new key for a new request.' },
  },
  precondition_required: {
    status: 428,
    cause:
      'The service runs with `REQUIRE_IF_MATCH=true`, and a change of an existing record has no `If-Match`, or in a line of an import no `version`.',
    remedy: 'Read the record and send its `ETag` in `If-Match`, or its `version` in the line.',
    example: { message: 'Say in If-Match which version you have seen.' },
  },
  rate_limited: {
    status: 429,
    cause:
      'This credential, or without one this IP address, sent more requests than the window allows (600 in 60 seconds by default; `RateLimit-Policy` says `"default"`), or more than 20 authentications from this IP address failed within a minute (`"auth"`).',
    remedy: 'Send the request again after the seconds in `Retry-After`. The service did nothing.',
    example: { message: 'Over 600 requests in one window; try again later.' },
  },
  headers_too_large: {
    status: 431,
    cause: 'The headers are larger than 16 KiB, or URL and headers together are far above their limits.',
    remedy: 'Send fewer or shorter headers.',
    example: { message: 'The headers are larger than 16384 bytes.' },
  },
  internal_error: {
    status: 500,
    cause: 'The service has a defect. Only its log describes it, under the `X-Request-Id` of the response.',
    remedy:
      'Report that id to the operator. The write may or may not have happened: read the record, and retry a POST only with its `Idempotency-Key`.',
    example: { message: 'Something went wrong in the service. It has been logged.' },
  },
  unavailable: {
    status: 503,
    cause:
      'The store or the issuer of the access token is unreachable or too slow, the service is overloaded or stopping, a write lost 64 races, or this client or all together have too many large requests, responses or searches in progress.',
    remedy:
      'Send the request again after the seconds in `Retry-After`. A write may have happened: protect it with `If-Match`, and a POST with an `Idempotency-Key`.',
    example: { message: 'The store cannot be used right now.' },
  },
};

/** The documentation of a code in `details`. */
export interface IssueEntry {
  readonly cause: string;
  /** What the client can do about it. */
  readonly remedy: string;
}

/** The documentation of each issue code. A missing code does not compile. */
export const ISSUES: Readonly<Record<HttpIssueCode, IssueEntry>> = {
  required: {
    cause:
      'A required field, member of a JSON Patch operation, header or parameter is missing, for example `currency` in a `price`, the key in an import with `match`, or `limit` with a backward cursor in an export.',
    remedy: 'Send it.',
  },
  invalid_type: {
    cause:
      'The value has the wrong JSON type, for example a fraction instead of an integer, or `null` for a required field or an element of an array; the pointer `""` means the whole body. A cell of CSV is not written as its column demands, such as `19.99` in `price.amount`. In a query: the value is not an integer in plain decimal digits, or with `attributes[KEY].lt` and the like no number.',
    remedy:
      'Send a value of the type of the field. To remove an optional field, send `null` in a merge patch or omit the field in a PUT.',
  },
  out_of_range: {
    cause:
      'A number is outside the limits of the field or beyond ±(2^53−1), a time is in the past or after the year 9999, or a value is not one of the possible values (`API-Version`, `grant_type`, `scope`).',
    remedy: 'Send a value within the limits of the field.',
  },
  too_long: {
    cause:
      'A string has too many characters (Unicode code points), an array too many items, `attributes` more than 50 keys, a JSON Patch too many operations or values, a query more than 100 filters or values of `.in`, or facets too many fields.',
    remedy: 'Shorten it.',
  },
  too_short: {
    cause: 'A string, a key of `attributes`, an array or an element of a list in the query is empty but must not be.',
    remedy: 'Send a value, or omit the field if it is optional.',
  },
  invalid_format: {
    cause:
      'A string has a control character, a lone surrogate, only white space, or another form than a SKU, currency, e-mail address, scope or RFC 3339 time must have; or a header or parameter cannot be parsed.',
    remedy:
      'Send the value in the format of the field. In a query, `+` means a space: write `%2B` in the offset of a time and in an e-mail address.',
  },
  unknown_field: {
    cause: 'The resource has no field of this name, also as a column of CSV; or the list cannot be sorted by it.',
    remedy: 'Correct the name or omit it. Names are case-sensitive.',
  },
  read_only_field: {
    cause:
      'Only the service sets `id`, `version`, `createdAt` and `updatedAt`. A POST must not contain them; a PUT, a PATCH or a line of an import with `match` may only repeat their current values. No request may contain the fields that it adds to API keys and webhooks, such as `key`, `createdBy` and `lastError`. Also the SKU or e-mail address in a PUT, if its path has another one.',
    remedy: 'Omit the field. Of the first four, you may send the value that you last read.',
  },
  duplicate_value: {
    cause:
      'Another record has this value in a unique field (409); an order names a product twice or an API key a scope twice; or a parameter, sort field, field of facets, header or column of CSV is repeated.',
    remedy: 'Choose another value, or send it once.',
  },
  reference_not_found: {
    cause:
      'A reference, such as `userId` or `productId` of an order, names a record that does not exist. A PUT or PATCH checks only new references. In a JSON Patch: `path` or `from` does not exist in the record.',
    remedy: 'Name an existing record or path.',
  },
  patch_test_failed: {
    cause: 'This `test` operation of a JSON Patch found a different value.',
    remedy: 'Read the record again and create a new patch.',
  },
  unknown_parameter: {
    cause: 'The operation has no parameter of this name.',
    remedy: 'Correct the name or omit it.',
  },
};
