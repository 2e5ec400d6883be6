/** An API key, also one that is percent-encoded or cut off. */
const API_KEY = /pcs(?:_|%5f)[0-9a-z]{8,}/gi;
/** The beginning of a JWT: `{"` in base64url. */
const JWT = /eyJ[\w.-]{8,}/g;

/** Returns the text with everything that looks like an API key or an access token made unreadable. */
export function masking(text: string): string {
  return text.replaceAll(API_KEY, 'pcs_[secret]').replaceAll(JWT, 'eyJ[secret]');
}
