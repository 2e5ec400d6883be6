/**
 * The headers of every response that keep a browser from treating it as anything else. The page at /docs overrides
 * some for itself.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  // Opened as a page, a response runs nothing, loads nothing, and is shown within no other page.
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  // Addresses contain search values, an e-mail address for instance.
  'Referrer-Policy': 'no-referrer',
  // Without CORS, pages of other origins do not get the bytes into their process either. CORS takes precedence.
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** RFC 6797 section 6.1: browsers use only HTTPS for a year. Without the subdomains, which may have another owner. */
export const STRICT_TRANSPORT = { 'Strict-Transport-Security': 'max-age=31536000' };
