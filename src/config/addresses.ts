import { isIP } from 'node:net';
import Joi from 'joi';

/** Addresses and CIDRs, separated by commas. */
export const ADDRESSES = Joi.string().custom((list: string, { error }) => {
  return list.split(',').every((text) => isAddressOrRange(text.trim())) ? list : error('addresses');
});

/** https://www.iana.org/assignments/uri-schemes/prov/redis: the path is the number of a database. */
export function redisUrl(text: string, { error }: Joi.CustomHelpers): string | Joi.ErrorReport {
  if (!URL.canParse(text)) return error('any.invalid');
  const { protocol, hostname, pathname, search } = new URL(text);
  const isSound = /^rediss?:$/.test(protocol) && hostname !== '' && /^(\/\d*)?$/.test(pathname + search);
  return isSound ? text : error('any.invalid');
}

/** Written as every parser writes it, since clients compare it as text and it stands in headers. */
export function publicUrl(text: string, { error }: Joi.CustomHelpers): string | Joi.ErrorReport {
  if (!URL.canParse(text)) return error('any.invalid');
  const { protocol, host, pathname } = new URL(text);
  const isPlain = text === `https://${host}${pathname.replace(/\/$/, '')}`;
  return protocol === 'https:' && isPlain ? text : error('any.invalid');
}

/**
 * RFC 8414 section 2; plain HTTP where it does not leave the machine. Written as every parser writes it, with the slash at the end or
 * without. This service is no other issuer than itself.
 */
export function issuerUrl(text: string, { error, state }: Joi.CustomHelpers): string | Joi.ErrorReport {
  if (!URL.canParse(text)) return error('any.invalid');
  const { protocol, hostname, username, password, href } = new URL(text);
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback);
  const isPlain = (href === text || href === `${text}/`) && username + password === '' && !/[?#]/.test(text);
  if (!isSafe || !isPlain) return error('any.invalid');
  const { PUBLIC_URL, PORT } = state.ancestors[0] as { PUBLIC_URL?: string; PORT: number | string };
  // Parsers leave out the port that https has anyway.
  const own = (PUBLIC_URL || `https://localhost:${PORT}`).replace(/:443$/, '');
  return text.replace(/\/$/, '') === own ? error('issuer.own') : text;
}

/** RFC 4632 section 3.1, RFC 4291 section 2.3. */
function isAddressOrRange(text: string): boolean {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const version = isIP(address);
  return version !== 0 && Number(prefix ?? 0) <= (version === 4 ? 32 : 128);
}
