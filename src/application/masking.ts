/** As a key is written, also in an address. */
const API_KEY = /pcs(?:_|%5f)[0-9a-z]{8,}/gi;

/** A text for people or for the log, where whatever looks like an API key is made unreadable. */
export function masking(text: string): string {
  return text.replaceAll(API_KEY, 'pcs_[secret]');
}
