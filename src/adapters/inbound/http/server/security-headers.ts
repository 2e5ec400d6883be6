/**
 * What keeps a browser from making anything of an answer but what it is. Every answer carries it, whoever reads it; a
 * page says otherwise for itself.
 */
export const PROTECTION: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  // Opened as a page, an answer runs nothing, loads nothing, and is shown within no other page.
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  // Addresses hold what was searched for, an e-mail address for instance.
  'Referrer-Policy': 'no-referrer',
  // Without CORS, pages of other origins do not get the bytes into their process either. CORS goes before it.
  'Cross-Origin-Resource-Policy': 'same-origin',
};
