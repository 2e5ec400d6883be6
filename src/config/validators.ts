import { isIP } from 'node:net';
import type Joi from 'joi';

/** Joi rule: addresses and CIDRs, separated by commas. */
export function addressList(list: string, { error }: Joi.CustomHelpers): string | Joi.ErrorReport {
  return list.split(',').every((text) => isAddressOrRange(text.trim())) ? list : error('addresses');
}

/** Joi rule: `*`, or origins separated by commas. */
export function originList(list: string, { error }: Joi.CustomHelpers): string | Joi.ErrorReport {
  const isValid = list === '*' || list.split(',').every((origin) => isOrigin(origin.trim()));
  return isValid ? list : error('origins');
}

/** Joi rule: https://www.iana.org/assignments/uri-schemes/prov/redis, and its path is the number of a database. */
export function redisUrl(text: string, { error }: Joi.CustomHelpers): string | Joi.ErrorReport {
  if (!URL.canParse(text)) return error('any.invalid');
  const { protocol, hostname, pathname, search } = new URL(text);
  const isValid = /^rediss?:$/.test(protocol) && hostname !== '' && /^(\/\d*)?$/.test(pathname + search);
  return isValid ? text : error('any.invalid');
}

/** Joi rule: an https address in normal form. Clients compare it as text, and headers contain it. */
export function publicUrl(text: string, { error }: Joi.CustomHelpers): string | Joi.ErrorReport {
  if (!URL.canParse(text)) return error('any.invalid');
  const { protocol, host, pathname } = new URL(text);
  const isPlain = text === `https://${host}${pathname.replace(/\/$/, '')}`;
  return protocol === 'https:' && isPlain ? text : error('any.invalid');
}

/**
 * Joi rule: an issuer by RFC 8414 section 2, in normal form, with or without a slash at the end. Plain HTTP is allowed
 * on loopback addresses. The service itself is not accepted.
 */
export function issuerUrl(text: string, { error, state }: Joi.CustomHelpers): string | Joi.ErrorReport {
  if (!URL.canParse(text)) return error('any.invalid');
  const { protocol, hostname, username, password, href } = new URL(text);
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback);
  const isPlain = (href === text || href === `${text}/`) && username + password === '' && !/[?#]/.test(text);
  if (!isSafe || !isPlain) return error('any.invalid');
  const { PUBLIC_URL, PORT } = state.ancestors[0] as { PUBLIC_URL?: string; PORT: number | string };
  // Parsers drop the default port of https.
  const own = (PUBLIC_URL || `https://localhost:${PORT}`).replace(/:443$/, '');
  return text.replace(/\/$/, '') === own ? error('issuer.own') : text;
}

/** RFC 4632 section 3.1, RFC 4291 section 2.3. */
function isAddressOrRange(text: string): boolean {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const version = isIP(address);
  return version !== 0 && Number(prefix ?? 0) <= (version === 4 ? 32 : 128);
}

/**
 * Whether a browser can send this text as `Origin` (RFC 6454 section 7): in lower case, without the default port of the
 * scheme, and with nothing after the port. `null` is refused, because any page can send it.
 */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host } = new URL(text);
  return /^[^/]+:\/\/[^*A-Z]+$/.test(text) && text === `${protocol}//${host}`;
}
