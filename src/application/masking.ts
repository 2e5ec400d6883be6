/** As a key is written, also in an address. */
const API_KEY = /pcs(?:_|%5f)[0-9a-z]{8,}/gi;
/** How the header of a JWT begins: `{"` in base64url. */
const JWT = /eyJ[\w.-]{8,}/g;

/** A text for people or for the log, where whatever looks like an API key or an access token is made unreadable. */
export function masking(text: string): string {
  return text.replaceAll(API_KEY, 'pcs_[secret]').replaceAll(JWT, 'eyJ[secret]');
}
