import type { FaultCode } from '../../../../domain/errors.js';

/** A problem with a parameter or header that only HTTP knows, beside the domain's. */
export type HttpIssueCode = FaultCode | 'unknown_parameter';

/** The documentation of a code in `details`. */
export interface FaultEntry {
  readonly cause: string;
  /** What the client can do about it. */
  readonly remedy: string;
}

/** A missing code does not compile. */
export const FAULTS: Readonly<Record<HttpIssueCode, FaultEntry>> = {
  required: {
    cause:
      'A required field, member of a JSON Patch operation, header or parameter is missing: for instance `amount` and `currency` inside a `price`, or `limit` beside a cursor that goes backwards through lines.',
    remedy: 'Send it.',
  },
  invalid_type: {
    cause:
      'The value is of another JSON type than the field takes, `null` and a fraction for a whole number included; or the body as a whole is no object (no array, for a JSON Patch), with the pointer `""`. In a query: the value is not a whole number in plain decimal digits.',
    remedy:
      'Send a value of the type that the field has. To remove an optional field send `null` in a merge patch, or leave the field out of a PUT.',
  },
  out_of_range: {
    cause:
      'A number is below or above what the field takes, or beyond ±(2^53−1); a time is in the past or after the year 9999; or a word is not one of those that are possible (`API-Version`, `grant_type`, `scope`).',
    remedy: 'Send a value within the limits of the field.',
  },
  too_long: {
    cause:
      'A text has more characters than its field takes, an array more items, `attributes` more than 50 keys, a JSON Patch too many operations or values, or a query more than 100 filters or 100 values after `:in`. Characters are Unicode code points.',
    remedy: 'Shorten it.',
  },
  too_short: {
    cause:
      'A text, a key of `attributes`, an array or an element of a list in the query is empty and may not be.',
    remedy: 'Fill it, or leave an optional field out.',
  },
  invalid_format: {
    cause:
      'A text has something that its field does not take: a control character, a lone surrogate, white space alone for a name, a character that no SKU, currency or e-mail address has, a scope that does not exist, or a time that is not as in RFC 3339. Of a header or parameter: it cannot be read.',
    remedy:
      'Write the value in the form that the field has. In a query `+` stands for a space: write `%2B` in the offset of a time.',
  },
  unknown_field: {
    cause: 'The resource has no field of this name, or, in `sort`, the list cannot be sorted by this field.',
    remedy: 'Correct the name or leave it out. Names are case-sensitive.',
  },
  read_only_field: {
    cause:
      '`id`, `version`, `createdAt`, `updatedAt`, or of an API key `key` or `lastUsedAt`: given by the service. A POST may not name them; a PUT or PATCH may only repeat them as they are.',
    remedy: 'Leave the field out, or send back what was last read.',
  },
  duplicate_value: {
    cause:
      'Another record has this value of a unique field (409); an order names a product twice or an API key a scope twice; or a parameter, sort field or header is there more than once.',
    remedy: 'Choose another value, or send it once.',
  },
  reference_not_found: {
    cause:
      '`userId` or `productId` of an order names no record that exists. In an edit, only new references are looked up. In a JSON Patch: `path` or `from` leads to no place in the record.',
    remedy: 'Name a record, or a place, that exists.',
  },
  patch_test_failed: {
    cause: 'This `test` of a JSON Patch did not find the value that it names.',
    remedy: 'Read the record again and make a new patch.',
  },
  unknown_parameter: {
    cause: 'The operation takes no parameter of this name.',
    remedy: 'Correct the name or leave it out.',
  },
};
