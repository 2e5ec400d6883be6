/** The methods that some route serves (RFC 9110 section 9.3, RFC 5789). */
export const SERVED_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Every method of HTTP. Metrics and traces show any other as `_OTHER`. */
export const HTTP_METHODS: readonly string[] = [...SERVED_METHODS, 'CONNECT', 'TRACE'];
