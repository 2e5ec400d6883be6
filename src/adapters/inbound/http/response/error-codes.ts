import type { ErrorCode } from '../../../../domain/errors.js';

/** How HTTP alone refuses a request, beside the codes of the domain. Every code is in the public contract. */
export type HttpErrorCode =
  | 'malformed_json'
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
  | 'payload_too_large'
  | 'uri_too_long'
  | 'unsupported_media_type'
  | 'expectation_failed'
  | 'precondition_required'
  | 'headers_too_large'
  | 'internal_error';

/** Every code that a response can have. */
export type ResponseErrorCode = ErrorCode | HttpErrorCode;

/** The documentation of a code, in docs/errors.md and in the OpenAPI document. */
export interface ErrorEntry {
  readonly status: number;
  readonly cause: string;
  /** What the client can do about it. */
  readonly remedy: string;
}

/** The one place that maps a code to its status. A missing code does not compile. */
export const ERRORS: Readonly<Record<ResponseErrorCode, ErrorEntry>> = {
  malformed_json: {
    status: 400,
    cause:
      'The body, or a line of an import, cannot be read as JSON: it is empty, not JSON, not UTF-8 or begins with a byte order mark; an object in it has the same member twice or one named `__proto__`; or it is nested deeper than 20 levels.',
    remedy: 'Send one JSON value in UTF-8. The message says which of these it is.',
  },
  validation_failed: {
    status: 400,
    cause:
      'The body is well-formed, but not what the resource takes: fields are missing, unknown, of the wrong type, beyond their limits or read-only, or name a record that does not exist. For a change, the resulting record is judged, and the pointers lead into that.',
    remedy:
      'Mend every fault in `details`, up to 1,000 of which are told at once, each with its own code and a JSON Pointer to its place. The corrected body may come under the same `Idempotency-Key`.',
  },
  unknown_parameter: {
    status: 400,
    cause:
      'The query names a parameter that this operation does not take, a field that the list cannot be filtered by, or an operator that the field lacks. No operation ignores a parameter.',
    remedy: 'Leave the parameters out that `details` names, or correct their names.',
  },
  invalid_parameter: {
    status: 400,
    cause:
      'A parameter of the query, or a header, has a value of the wrong type, out of its range or malformed, or is given more than once; or a query has faults of several kinds. Also `Host` that is missing or sent twice, `Authorization` sent twice, and a message that is no HTTP/1.1 (then without details).',
    remedy:
      'Correct the parameters and headers that `details` names. All faults of a query are told at once, up to 100.',
  },
  invalid_cursor: {
    status: 400,
    cause:
      'The `cursor` is not one that this list gave: it was cut, edited, made up, or belongs to another resource.',
    remedy:
      'Take cursors only from the `Link` header and follow its addresses as they are; else begin with the first page.',
  },
  cursor_mismatch: {
    status: 400,
    cause:
      'The `cursor` was given by this list for another sort or other filters. `limit` and `fields` may change from page to page, sort and filters may not.',
    remedy: 'Begin the new query with its first page, without a cursor.',
  },
  query_too_expensive: {
    status: 400,
    cause:
      'A list that no index serves, or an exact count, was not completed within `QUERY_TIMEOUT_MS` (2,000 milliseconds unless the service is set otherwise).',
    remedy:
      'Sending it again does not help. Filter by the field that the list is sorted by, or by one field equal to one value in the order of ids; ask without `Prefer: count=exact`; or read everything as `application/x-ndjson` and select from that.',
  },
  invalid_patch: {
    status: 400,
    cause:
      'The JSON Patch does not conform to RFC 6902, has more than 1,000 operations, has a path or `from` of more than 100 steps or one that leads to nothing in the record, or adds and copies more than 50,000 values or deeper than 20 levels. Nothing was changed.',
    remedy:
      'The pointers in `details` lead into the patch: `/3/path` is the path of the fourth operation. Note that a field without a value, an empty `attributes` included, is not there to be replaced or removed.',
  },
  invalid_idempotency_key: {
    status: 400,
    cause: '`Idempotency-Key` is not 1 to 255 printable ASCII characters, or is sent twice.',
    remedy: 'Send one key, a UUID for instance.',
  },
  unsupported_version: {
    status: 400,
    cause:
      'The header `API-Version` is not `1`, the one version there is, whether or not the address names a version.',
    remedy: 'Leave the header out or send `API-Version: 1`.',
  },
  unauthenticated: {
    status: 401,
    cause:
      'The address needs a credential and the request has none: no `Authorization` header, or one of another scheme than `Bearer`. At the token endpoint: no client secret was sent.',
    remedy:
      'Send `Authorization: Bearer` with an API key or an access token. `resource_metadata` in `WWW-Authenticate` leads to where tokens are given.',
  },
  invalid_token: {
    status: 401,
    cause:
      'The API key or access token is not known to this service: mistyped, revoked, of another issuer or for another audience, or its signature does not hold. At the token endpoint: the client id and the secret do not belong together.',
    remedy:
      'Do not repeat the request with the same credential: failures count against the address. Get a new access token, or have a new key made.',
  },
  token_expired: {
    status: 401,
    cause:
      'The API key has expired (`expiresAt`), or the access token has (those of this service last 10 minutes).',
    remedy: 'Get a new access token and send the request again. If a key has expired, have a new one made.',
  },
  insufficient_scope: {
    status: 403,
    cause:
      'The credential is valid, but lacks the scope that this operation needs; or a new API key was to get scopes that its maker does not have. The message and `scope` in `WWW-Authenticate` name what is missing.',
    remedy: 'Use a credential that has the scope. Asking again with this one does not help.',
  },
  https_required: {
    status: 403,
    cause:
      'The service stands behind a proxy that ends TLS, and the request came past that proxy, or came to it over plain HTTP. Never answered by a redirect: a token would have crossed the wire already.',
    remedy:
      'Use the `https` address of the service. Revoke a token that was sent over plain HTTP: others may have read it.',
  },
  not_found: {
    status: 404,
    cause:
      'There is no such address, or no record with this id: it never existed, or was deleted. Ids are 1 to 2^53−1 without a sign or leading zeros; a slash at the end makes another address, and so does an unknown version in the path.',
    remedy: 'Check the address. A deleted record never comes back and its id is never used again.',
  },
  method_not_allowed: {
    status: 405,
    cause:
      'The address exists and does not know this method: POST is for collections; PUT, PATCH and DELETE are for items.',
    remedy: 'Use one of the methods in the header `Allow`.',
  },
  not_acceptable: {
    status: 406,
    cause:
      'Nothing in `Accept` fits the forms that the answer can have, or it asks for another charset than UTF-8.',
    remedy:
      'Accept `application/json`, for lists and imports also `application/x-ndjson`, or leave the header out.',
  },
  request_timeout: {
    status: 408,
    cause:
      'The headers did not arrive within 10 seconds, or the whole request within 30, or the body broke off. Imports have no such limit, but their connection is cut after 30 seconds without a byte.',
    remedy: 'Send the request again on a new connection. Send many records as an import.',
  },
  duplicate_value: {
    status: 409,
    cause:
      'Another record has the value of a field that is unique: `sku` among products, `email` among users, whatever its case. `details` names the field.',
    remedy:
      'Choose another value, or find the record that has it by a filter, such as `?sku=L-1`, and change that one.',
  },
  patch_test_failed: {
    status: 409,
    cause:
      'A `test` operation of a JSON Patch found a value other than the one that it names, or none at its path. Nothing was changed. `details` points to the operation.',
    remedy: 'Read the record again, decide again, and make a new patch.',
  },
  last_admin_key: {
    status: 409,
    cause:
      'The API key is the last one with the scope `keys:admin` that has not expired. Without it nobody could make or revoke keys over HTTP. Tokens of another issuer do not count as keys.',
    remedy:
      'Make another key with `keys:admin` first. On the machine itself, `catalogue keys revoke` revokes the last one too.',
  },
  precondition_failed: {
    status: 412,
    cause:
      '`If-Match` does not name the current version of the record, since somebody else has changed it; or `If-None-Match` on a write names the current version. Nothing was written.',
    remedy:
      'Read the record again, apply the change to it as it is now, and send the result with the new `ETag`, which this response has too.',
  },
  payload_too_large: {
    status: 413,
    cause:
      'The body, or one line of an import, is larger than `BODY_LIMIT_BYTES` (1 MiB unless the service is set otherwise), or has more than 10,000 names and values of JSON. A form at `/oauth/token` has at most 16 KiB.',
    remedy: 'Send less in one body. Send many records as an import, whose length is not limited.',
  },
  uri_too_long: {
    status: 414,
    cause:
      'The address, its query included, is longer than 8 KiB (8,192 bytes); or that of the list’s next page would be.',
    remedy: 'Ask for less in one query, with fewer values after `:in` for instance.',
  },
  unsupported_media_type: {
    status: 415,
    cause:
      'The body is sent without a `Content-Type` or with one that the operation does not take, in another charset than UTF-8, or with a `Content-Encoding`.',
    remedy:
      'Send it uncompressed, in one of the types that the message names; on PATCH they are in the header `Accept-Patch` too.',
  },
  expectation_failed: {
    status: 417,
    cause: 'The header `Expect` asks for something other than `100-continue`.',
    remedy: 'Leave the header out.',
  },
  idempotency_key_reused: {
    status: 422,
    cause:
      'This `Idempotency-Key` was used in this collection for another body, or for an import and now for a single record or the other way round. In an import: this line was another one when the stream was first sent.',
    remedy:
      'Use a new key for a new request. For a repetition send the same body; lines may be added to the end of an import, never moved.',
  },
  precondition_required: {
    status: 428,
    cause:
      'The service is set to `REQUIRE_IF_MATCH=true`, and a PUT, PATCH or DELETE came without `If-Match`.',
    remedy: 'Read the record, and send its `ETag` in `If-Match`.',
  },
  rate_limited: {
    status: 429,
    cause:
      'More requests came with this credential, or without one from this IP address, than the window allows (600 in 60 seconds unless the service is set otherwise); or more than 20 authentications from this IP address failed within a minute. `RateLimit-Policy` says which: `"default"` or `"auth"`.',
    remedy: 'Wait as many seconds as `Retry-After` says, then send the request again. Nothing was done.',
  },
  headers_too_large: {
    status: 431,
    cause: 'The headers are larger than 16 KiB, or address and headers together far larger than they may be.',
    remedy: 'Send fewer or shorter headers.',
  },
  internal_error: {
    status: 500,
    cause:
      'A defect in the service. What happened is in its log, under the `X-Request-Id` of the answer, and never in the answer.',
    remedy:
      'Tell that id to whoever runs the service. A write may or may not have been done: read the record, and repeat a POST only under its `Idempotency-Key`.',
  },
  unavailable: {
    status: 503,
    cause:
      'The service cannot do it now: its store is out of reach or does not answer in time, it is overloaded or stopping, 64 other writers of one record were faster, or the issuer of the access token cannot be asked. Or this client, or all clients together, have too many pages, bodies, imports, exports or searches without an index under way.',
    remedy:
      'Wait as many seconds as `Retry-After` says, then send the request again. A write may have been done: guard it by `If-Match`, and a POST by an `Idempotency-Key`.',
  },
};
