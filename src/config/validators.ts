import { isIP } from 'node:net';
import Joi from 'joi';
import { isWellFormedKey } from '../shared/api-key-format.js';
import { shownValue } from './shown-value.js';

/** Joi rule: an API key with its checksum. */
export function apiKey(text: string, { error }: Joi.CustomHelpers): string | Joi.ErrorReport {
  return isWellFormedKey(text) ? text : error('any.invalid');
}

/** Joi rule: addresses and CIDRs, separated by commas. */
export function addressList(list: string, { error }: Joi.CustomHelpers): string | Joi.ErrorReport {
  return list.split(',').every((text) => isAddressOrRange(text.trim())) ? list : error('addresses');
}

/** RFC 1123 section 2.1. */
const HOST_NAME = Joi.string().domain({ minDomainSegments: 1, allowUnicode: false, tlds: false }).max(253);

/** The certificate travels in every handshake. */
const MAX_NAMES = 100;

/**
 * Joi rule: host names in ASCII and addresses, separated by commas. Returns them as URLs spell them. The error has one
 * line per issue.
 */
export function nameList(list: string, { error }: Joi.CustomHelpers): string | Joi.ErrorReport {
  const names = list.split(',').map((name) => name.trim());
  const lines = names.flatMap((name, at) => {
    const issue = nameIssue(name);
    return issue ? [`TLS_NAMES: name ${at + 1}${name && `, "${shownValue(name)}",`} is ${issue}`] : [];
  });
  if (names.length > MAX_NAMES) lines.push(`TLS_NAMES: there are more than ${MAX_NAMES} names`);
  return lines.length === 0 ? names.map(asInUrl).join() : error('names', { lines: lines.join('\n') });
}

/** In lower case, and an IPv6 address without an IPv4 address in it, but without brackets. */
function asInUrl(name: string): string {
  return isIP(name) === 6 ? new URL(`https://[${name}]`).hostname.slice(1, -1) : name.toLowerCase();
}

function nameIssue(name: string): string | undefined {
  if (name === '') return 'empty';
  if (name.includes('*')) return 'a wildcard; write every name in full';
  const isAddress = isIP(name) !== 0 && !name.includes('%');
  return isAddress || HOST_NAME.validate(name).error === undefined
    ? undefined
    : 'no host name in ASCII and no address; write it without scheme, port and brackets';
}

/** Joi rule: `*`, or origins separated by commas. */
export function originList(list: string, { error }: Joi.CustomHelpers): string | Joi.ErrorReport {
  const isValid = list === '*' || list.split(',').every((origin) => isOrigin(origin.trim()));
  return isValid ? list : error('origins');
}

/** Joi rule: https://www.iana.org/assignments/uri-schemes/prov/redis, and its path is the number of a database. */
export function redisUrl(text: string, { error }: Joi.CustomHelpers): string | Joi.ErrorReport {
  if (!URL.canParse(text)) return error('any.invalid');
  const { protocol, hostname, pathname, search, username, password } = new URL(text);
  const isValid = /^rediss?:$/.test(protocol) && hostname !== '' && /^(\/\d*)?$/.test(pathname + search);
  return isValid && isDecodable(username + password) ? text : error('any.invalid');
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

const WILDCARDS = ['0.0.0.0', '::'];

/** Joi rule: a port that is not PORT as well, on the same address. 0 is any free port, and never the same. */
export function ownPort(port: number, { error, state }: Joi.CustomHelpers): number | Joi.ErrorReport {
  const { HOST, PORT, MANAGEMENT_HOST } = state.ancestors[0] as Record<string, unknown>;
  const addresses = (host: unknown) => (host === 'localhost' ? ['127.0.0.1', '::1'] : [String(host)]);
  const [ones, others] = [addresses(HOST), addresses(MANAGEMENT_HOST)];
  const overlap =
    ones.some((host) => others.includes(host)) || [...ones, ...others].some((host) => WILDCARDS.includes(host));
  return port !== 0 && port === Number(PORT) && overlap ? error('any.invalid') : port;
}

/** Joi rule: an https address in normal form. Clients compare it as text, and headers contain it. */
export function publicUrl(text: string, { error }: Joi.CustomHelpers): string | Joi.ErrorReport {
  if (!URL.canParse(text)) return error('any.invalid');
  const { protocol, host, pathname } = new URL(text);
  // An address that begins with two slashes would name another host (RFC 3986 section 4.2).
  const isPlain = text === `https://${host}${pathname.replace(/\/$/, '')}` && !pathname.startsWith('//');
  // The self-signed certificate holds this host, and must hold no wildcard.
  return protocol === 'https:' && isPlain && !host.includes('*') ? text : error('any.invalid');
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
