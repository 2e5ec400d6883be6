/** The headers of every response that restrict what a browser does with it. The page at /docs overrides some. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  // Opened as a page, a response runs nothing and loads nothing, and no other page can embed it.
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  // URLs contain search values, for example an e-mail address.
  'Referrer-Policy': 'no-referrer',
  // Keeps the bytes out of the process of pages of other origins. CORS takes precedence.
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/**
 * Makes browsers use only HTTPS for a year (RFC 6797 section 6.1). Subdomains may have another owner, so they are not
 * included.
 */
export const STRICT_TRANSPORT = { 'Strict-Transport-Security': 'max-age=31536000' };
