/** An API key, also percent-encoded as in a URL. */
const API_KEY = /pcs(?:_|%5f)[0-9a-z]{8,}/gi;
/** A JWT, by the start of its header: `{"` in base64url. */
const JWT = /eyJ[\w.-]{8,}/g;

/** Whether there is anything to replace. Few texts have it, and two replacements cost more than one search. */
const SECRET = new RegExp(`${API_KEY.source}|${JWT.source}`, 'i');

/** Returns the text with everything that looks like an API key or an access token replaced. */
export function redactSecrets(text: string): string {
  if (!SECRET.test(text)) return text;
  return text.replaceAll(API_KEY, 'pcs_[secret]').replaceAll(JWT, 'eyJ[secret]');
}
