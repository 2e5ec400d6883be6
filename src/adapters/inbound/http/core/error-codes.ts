import type { ErrorCode } from '../../../../domain/errors.js';

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

/** The documentation of a code, in docs/reference/errors.md and in the OpenAPI document. */
export interface ErrorEntry {
  readonly status: number;
  readonly cause: string;
  /** What the client can do about it. */
  readonly remedy: string;
}

/** The status and the documentation of each code. A missing code does not compile. */
export const ERRORS: Readonly<Record<ResponseErrorCode, ErrorEntry>> = {
  malformed_json: {
    status: 400,
    cause:
      'The body, or a line of an import, is not valid JSON: it is empty, malformed, not UTF-8, or starts with a byte order mark; an object in it has a duplicate member or one named `__proto__`; or it is nested deeper than 20 levels.',
    remedy:
      'Send one JSON value in UTF-8. The message says which of these causes applies, and at which line and column; both count from 1, columns in Unicode code points.',
  },
  malformed_csv: {
    status: 400,
    cause:
      'A CSV import has no header row, or it is malformed. In the result of a record: it has more or fewer cells than the header row, a value in a column without a name, a quotation mark that is not closed or stands inside a cell without quotes, a carriage return outside quotes, or bytes that are not UTF-8, as of a file in UTF-16 or Windows-1252.',
    remedy:
      'Write CSV as RFC 4180 describes, in UTF-8: commas between cells; quotation marks around a cell with a comma, a line end or a quotation mark in it, which is then doubled. Spreadsheets call it "CSV UTF-8". The message names the cell.',
  },
  validation_failed: {
    status: 400,
    cause:
      'The body is valid JSON but breaks the rules of the resource: a field is missing, unknown, of the wrong type, outside its limits or read-only, or names a record that does not exist. Of a CSV import as a whole: its header row names a column that is unknown, repeated or read-only, or lacks a required one. For a PATCH, the resulting record is validated, and the pointers refer to it.',
    remedy:
      'Fix every issue in `details`. Each has a code and a JSON Pointer; one response lists at most 1,000. You may send the corrected body with the same `Idempotency-Key`.',
  },
  unknown_parameter: {
    status: 400,
    cause:
      'The query has a parameter that this operation does not accept, a filter on a field that cannot be filtered, or an operator that the field does not support. No operation ignores a parameter.',
    remedy: 'Remove or rename the parameters listed in `details`.',
  },
  invalid_parameter: {
    status: 400,
    cause:
      'A query parameter or header has the wrong type, is out of range, malformed or repeated; or a query has issues of several kinds. Also a missing or repeated `Host`, a repeated `Authorization`, and a message that is not valid HTTP/1.1 (then without details).',
    remedy:
      'Correct the parameters and headers listed in `details`. One response lists all issues of a query, at most 100.',
  },
  invalid_cursor: {
    status: 400,
    cause:
      'This list did not issue the `cursor`: it was truncated, edited, invented, or belongs to another list.',
    remedy: 'Follow the URLs in the `Link` header unchanged, or start again with the first page.',
  },
  cursor_mismatch: {
    status: 400,
    cause:
      'The `cursor` belongs to a query with another sort or other filters. `limit` and `fields` may change between pages; sort and filters may not. Of facets: it belongs to another field, prefix or filter. Of changes: it belongs to another resource or other `fields`.',
    remedy: 'Start the new query with its first page, without a cursor.',
  },
  query_too_expensive: {
    status: 400,
    cause:
      'A list that no index serves, an exact count, or facets did not finish within `QUERY_TIMEOUT_MS` (2,000 milliseconds by default).',
    remedy:
      'A retry does not help. Filter by the field that you sort by, or filter one field by equality and sort by id; omit `Prefer: count=exact`; ask for facets under a filter that few records match; or export everything as `application/x-ndjson` or `text/csv` and select from that.',
  },
  invalid_patch: {
    status: 400,
    cause:
      'The JSON Patch violates RFC 6902, has more than 1,000 operations, has a `path` or `from` with more than 100 steps or one that does not exist in the record, or adds and copies more than 50,000 values or more than 20 levels. The record is unchanged.',
    remedy:
      'The pointers in `details` refer to the patch: `/3/path` is the path of the fourth operation. A field without a value does not exist, so it cannot be replaced or removed; this includes an empty `attributes`.',
  },
  invalid_idempotency_key: {
    status: 400,
    cause:
      '`Idempotency-Key` is not 1 to 255 printable ASCII characters, or is repeated; or an import with `match` or `dryRun=true` has one.',
    remedy: 'Send one key, for example a UUID. Such an import may be repeated without one.',
  },
  unsupported_version: {
    status: 400,
    cause:
      'The header `API-Version` is not `1`, the only version. It is checked even if the path names a version.',
    remedy: 'Omit the header or send `API-Version: 1`.',
  },
  unauthenticated: {
    status: 401,
    cause:
      'The request needs a credential and has none: no `Authorization` header, or one with a scheme other than `Bearer`. At the token endpoint: no client secret was sent.',
    remedy:
      'Send `Authorization: Bearer` with an API key or an access token. `resource_metadata` in `WWW-Authenticate` says where to get a token.',
  },
  invalid_token: {
    status: 401,
    cause:
      'The service does not accept the API key or access token: it is mistyped, revoked, from another issuer or for another audience, or its signature is invalid. At the token endpoint: the client id and the secret do not match.',
    remedy:
      'Do not retry with the same credential: failures count against your IP address. Get a new access token or API key.',
  },
  token_expired: {
    status: 401,
    cause:
      'The API key (`expiresAt`) or access token has expired. Access tokens of this service last 10 minutes.',
    remedy: 'Get a new access token or API key and send the request again.',
  },
  insufficient_scope: {
    status: 403,
    cause:
      'The credential is valid but lacks the scope for this operation, or tries to create an API key with scopes that it does not have, or a webhook for resources that it may not read. Also a webhook of a token that belongs to no API key. The message and `scope` in `WWW-Authenticate` name the missing scopes.',
    remedy: 'Use a credential that has the scope. A retry with this one does not help.',
  },
  https_required: {
    status: 403,
    cause:
      'The service runs behind a proxy that terminates TLS, and the request bypassed the proxy or reached it over plain HTTP. The service never redirects: the token has already been sent in the clear.',
    remedy:
      'Use the `https` URL of the service. Revoke a token that was sent over plain HTTP: others may have read it.',
  },
  not_found: {
    status: 404,
    cause:
      'The path does not exist, or no record has this id, SKU or e-mail address: it never existed or was deleted. In an import: no record has the key of the line, and a `version` or `match=id` demands one. Ids are 1 to 2^53−1 without sign or leading zeros. A path with a trailing slash or an unknown version does not exist.',
    remedy: 'Check the path. A deleted record never comes back, and its id is never reused.',
  },
  method_not_allowed: {
    status: 405,
    cause:
      'The path exists but does not support this method: POST is for collections; PUT, PATCH and DELETE are for items.',
    remedy: 'Use one of the methods in the `Allow` header.',
  },
  not_acceptable: {
    status: 406,
    cause:
      '`Accept` matches none of the media types of the response, or requires a charset other than UTF-8.',
    remedy:
      'Accept `application/json` (for lists and imports also `application/x-ndjson`, for lists `text/csv`), or omit the header.',
  },
  request_timeout: {
    status: 408,
    cause:
      'The headers did not arrive within 10 seconds, the whole request did not arrive within 30 seconds, or the body was incomplete. Imports have no total limit; their connection is closed after 30 seconds without a whole record or 16 KiB of one.',
    remedy: 'Send the request again on a new connection. Send many records as an import.',
  },
  duplicate_value: {
    status: 409,
    cause:
      'Another record has the same value in a unique field, such as `sku` of products, or `email` of users, ignoring case. `details` names the field, and the `id` of that record to those who may read it.',
    remedy:
      'Choose another value, or change the existing record, as a PUT to `/v1/products/sku/L-1` and an import with `match=sku` do.',
  },
  patch_test_failed: {
    status: 409,
    cause:
      'A `test` operation of a JSON Patch found a different value, or none, at its path. The record is unchanged. `details` points to the operation.',
    remedy: 'Read the record again and create a new patch.',
  },
  last_admin_key: {
    status: 409,
    cause:
      'The API key is the last unexpired one with the scope `keys:admin`. Without it nobody could create or revoke keys over HTTP. Tokens of another issuer do not count.',
    remedy:
      'Create another key with `keys:admin` first. On the machine itself, `catalogue keys revoke` revokes even the last one.',
  },
  limit_reached: {
    status: 409,
    cause:
      'The API key has 100 webhooks, by `createdBy`, or the store has 1,000. Neither a POST nor a PATCH that makes the key `createdBy` goes beyond; webhooks that exist stay.',
    remedy:
      'Delete a webhook that is not needed: `GET /v1/webhooks?createdBy=1` lists those of a key. One webhook may name several `resources`.',
  },
  cursor_expired: {
    status: 410,
    cause:
      'Changes behind the `cursor` may be missing: it is over 50 hours old, or since it was made the store was restored, copied or reset, or its changes were not recorded for a time, as with `CHANGES=off`.',
    remedy: 'Take a new cursor, by a request without one, and then list again.',
  },
  precondition_failed: {
    status: 412,
    cause:
      '`If-Match` does not name the current version of the record, because another client changed it, or the store was restored; or `If-None-Match` on a write names it, or is `*`. In an import: the `version` of the line is not the current one. The record is unchanged.',
    remedy:
      'Read the record again, apply your change to it, and send the result with the new `ETag`. This response has that `ETag` too, the result of a line the `version`.',
  },
  payload_too_large: {
    status: 413,
    cause:
      'The body, or one line of an import, is larger than `BODY_LIMIT_BYTES` (1 MiB by default) or has more than 10,000 JSON names and values; or the header row of CSV has more than 10,000 columns. In a dry run: those of this client keep 32 MiB of new and changed records already, or an earlier line of the same key was refused. A form at `/oauth/token` may have at most 16 KiB.',
    remedy:
      'Send less in one body. To send many records, use an import, whose length is not limited. Split a dry run.',
  },
  uri_too_long: {
    status: 414,
    cause: 'The URL with its query is longer than 8 KiB (8,192 bytes), or the URL of the next page would be.',
    remedy: 'Shorten the query, for example with fewer values of `.in`.',
  },
  unsupported_media_type: {
    status: 415,
    cause:
      'The body has no `Content-Type`, one that the operation does not accept, a charset other than UTF-8, or a `Content-Encoding`.',
    remedy:
      'Send the body uncompressed, in one of the media types and to the path that the message names. For PATCH they are also in the `Accept-Patch` header.',
  },
  expectation_failed: {
    status: 417,
    cause: 'The header `Expect` has a value other than `100-continue`.',
    remedy: 'Omit the header.',
  },
  idempotency_key_reused: {
    status: 422,
    cause:
      'This `Idempotency-Key` was used in this collection for another body, or once for an import and once for a single record. In an import: this line was different when the stream was first sent.',
    remedy:
      'Use a new key for a new request. To retry, send the same body. You may append lines to an import, but not move them.',
  },
  precondition_required: {
    status: 428,
    cause:
      'The service runs with `REQUIRE_IF_MATCH=true`, and a change of an existing record has no `If-Match`, or in a line of an import no `version`.',
    remedy: 'Read the record and send its `ETag` in `If-Match`, or its `version` in the line.',
  },
  rate_limited: {
    status: 429,
    cause:
      'This credential, or without one this IP address, sent more requests than the window allows (600 in 60 seconds by default); or more than 20 authentications from this IP address failed within a minute. `RateLimit-Policy` says which: `"default"` or `"auth"`.',
    remedy: 'Wait for the seconds in `Retry-After`, then send the request again. The service did nothing.',
  },
  headers_too_large: {
    status: 431,
    cause: 'The headers are larger than 16 KiB, or URL and headers together are far above their limits.',
    remedy: 'Send fewer or shorter headers.',
  },
  internal_error: {
    status: 500,
    cause:
      'The service has a defect. Its log describes it under the `X-Request-Id` of the response; the response never does.',
    remedy:
      'Report that id to the operator. The write may or may not have happened: read the record, and retry a POST only with its `Idempotency-Key`.',
  },
  unavailable: {
    status: 503,
    cause:
      'The service cannot serve the request now: its store is unreachable or too slow, it is overloaded or stopping, a write without a precondition lost 64 races, or the issuer of the access token is unreachable. Or this client, or all clients together, have too many pages, bodies, lines of imports, exports or unindexed searches in progress, or keep too many records of dry runs.',
    remedy:
      'Wait for the seconds in `Retry-After`, then send the request again. A write may have happened: protect it with `If-Match`, and a POST with an `Idempotency-Key`.',
  },
};
