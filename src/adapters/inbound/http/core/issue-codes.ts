import type { IssueCode } from '../../../../domain/errors.js';

/** The issue codes of the domain, and those of HTTP. */
export type HttpIssueCode = IssueCode | 'unknown_parameter';

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
      'A required field, member of a JSON Patch operation, header or parameter is missing: for example `currency` inside a `price`, the key in an import with `match`, `fields` of facets, or `limit` together with a backward cursor in an NDJSON or CSV request.',
    remedy: 'Send it.',
  },
  invalid_type: {
    cause:
      'The value has the wrong JSON type, for example a fraction instead of an integer, or `null` for a required field or an element of an array; a cell of CSV is not written as its column demands, such as `19.99` in `price.amount`; or the body is not an object (for a JSON Patch, not an array), with the pointer `""`. In a query: the value is not an integer in plain decimal digits, or with `attributes[KEY].lt` and the like no number.',
    remedy:
      'Send a value of the type of the field. To remove an optional field, send `null` in a merge patch or omit the field in a PUT.',
  },
  out_of_range: {
    cause:
      'A number is outside the limits of the field or beyond ±(2^53−1); a time is in the past or after the year 9999; or a value is not one of the possible values (`API-Version`, `grant_type`, `scope`).',
    remedy: 'Send a value within the limits of the field.',
  },
  too_long: {
    cause:
      'A string has too many characters, an array too many items, `attributes` more than 50 keys, a JSON Patch too many operations or values, or a query more than 100 filters or 100 values of `.in`, or facets more than 10 fields, or more than one beside `prefix`. Characters are Unicode code points.',
    remedy: 'Shorten it.',
  },
  too_short: {
    cause:
      'A string, a key of `attributes`, an array or an element of a list in the query is empty but must not be.',
    remedy: 'Send a value, or omit the field if it is optional.',
  },
  invalid_format: {
    cause:
      'A string has the wrong format: it has a control character or a lone surrogate, is a name of white space only, has a character that is not allowed in a SKU, currency or e-mail address, is an unknown scope, or is not an RFC 3339 time. For a header or parameter: it cannot be parsed.',
    remedy:
      'Send the value in the format of the field. In a query, `+` means a space: write `%2B` in the offset of a time and in an e-mail address.',
  },
  unknown_field: {
    cause:
      'The resource has no field of this name, also as a column of CSV, or, in `sort`, the list cannot be sorted by this field.',
    remedy: 'Correct the name or omit it. Names are case-sensitive.',
  },
  read_only_field: {
    cause:
      'The service sets `id`, `version`, `createdAt` and `updatedAt`, and for API keys `key` and `lastUsedAt`. A POST must not contain them; a PUT, a PATCH or a line of an import with `match`, where `version` is a precondition, may only repeat their current values. Also the SKU or e-mail address in a PUT, if its path has another one.',
    remedy: 'Omit the field, or send the value that you last read.',
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
