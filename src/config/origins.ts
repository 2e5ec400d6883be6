/** Whether this is `*`, any origin, or a list of origins separated by commas. */
export function isOriginList(text: string): boolean {
  return text === '*' || text.split(',').every((origin) => isOrigin(origin.trim()));
}

/**
 * Whether a browser could send this in Origin (RFC 6454 section 7): in lower case, without the port that the scheme
 * implies, and with nothing behind. `null` is none: any page can send that.
 */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host } = new URL(text);
  return /^[^/]+:\/\/[^*A-Z]+$/.test(text) && text === `${protocol}//${host}`;
}
