export const JSON_TYPE = 'application/json';
/** {@link JSON_TYPE} with the charset, because `Accept: application/json; charset=utf-8` does not match it without. */
export const JSON_UTF8 = `${JSON_TYPE}; charset=utf-8`;

/** An error (RFC 9457 section 6.1). */
export const PROBLEM = 'application/problem+json';

/** Newline-delimited JSON, in requests and responses. */
export const NDJSON = 'application/x-ndjson';
export const NDJSON_UTF8 = `${NDJSON}; charset=utf-8`;

/** RFC 7111 section 5. */
export const CSV = 'text/csv';
export const CSV_UTF8 = `${CSV}; charset=utf-8`;

/** RFC 7396 section 4. */
export const MERGE_PATCH = 'application/merge-patch+json';
/** RFC 6902 section 6. */
export const JSON_PATCH = 'application/json-patch+json';

/** The body of a token request (RFC 6749 section 4.4.2). */
export const FORM = 'application/x-www-form-urlencoded';

export const HTML = 'text/html';
