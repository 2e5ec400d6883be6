import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import type { GivenValues, TextSetting } from '../shared/setting.js';
import { shownValue } from './shown-value.js';

/** A function that returns the issue of a value of a setting, or undefined. */
type IssueOf = NonNullable<TextSetting['issue']>;

/** The issue of addresses and CIDRs, separated by commas. */
export function addressIssue(name: string): IssueOf {
  return (list) =>
    list.split(',').every((text) => isAddressOrRange(text.trim()))
      ? undefined
      : `${name} must be addresses and CIDRs, separated by commas`;
}

const LABEL = '[a-z\\d]([a-z\\d-]{0,61}[a-z\\d])?';

/** RFC 1123 section 2.1, and section 2.1 of RFC 3696 for the last label. */
const HOST_NAME = new RegExp(`^(?=.{1,253}$)(${LABEL}\\.)*(?=[a-z])${LABEL}$`, 'i');

/** The issue of an address, or of a host name that may have letters of any script. */
export function hostIssue(name: string): IssueOf {
  return (text) =>
    isIP(text) !== 0 || HOST_NAME.test(domainToASCII(text)) ? undefined : `${name} must be a valid hostname`;
}

/** The certificate travels in every handshake. */
const MAX_NAMES = 100;

/** The issues of host names in ASCII and addresses, separated by commas: a line for each. */
export function namesIssue(list: string): readonly string[] | undefined {
  const names = namesIn(list);
  const lines = names.flatMap((name, at) => {
    const issue = nameIssue(name);
    return issue ? [`TLS_NAMES: name ${at + 1}${name && `, "${shownValue(name)}",`} is ${issue}`] : [];
  });
  if (names.length > MAX_NAMES) lines.push(`TLS_NAMES: there are more than ${MAX_NAMES} names`);
  return lines.length === 0 ? undefined : lines;
}

/** Returns host names and addresses as URLs spell them. */
export function normalizedNames(list: string): string {
  return namesIn(list).map(asInUrl).join();
}

function namesIn(list: string): string[] {
  return list.split(',').map((name) => name.trim());
}

/** In lower case, and an IPv6 address without an IPv4 address in it, but without brackets. */
function asInUrl(name: string): string {
  return isIP(name) === 6 ? new URL(`https://[${name}]`).hostname.slice(1, -1) : name.toLowerCase();
}

function nameIssue(name: string): string | undefined {
  if (name === '') return 'empty';
  if (name.includes('*')) return 'a wildcard; write every name in full';
  const isAddress = isIP(name) !== 0 && !name.includes('%');
  return isAddress || HOST_NAME.test(name)
    ? undefined
    : 'no host name in ASCII and no address; write it without scheme, port and brackets';
}

/** The issue of `*`, or of origins separated by commas. */
export function originIssue(name: string): IssueOf {
  return (list) =>
    list === '*' || list.split(',').every((origin) => isOrigin(origin.trim()))
      ? undefined
      : `${name} must be origins such as https://shop.example, separated by commas and without a path, or *`;
}

/** https://www.iana.org/assignments/uri-schemes/prov/redis, and its path is the number of a database. */
export function isRedisUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname, search } = new URL(text);
  return /^rediss?:$/.test(protocol) && hostname !== '' && /^(\/\d*)?$/.test(pathname + search);
}

const WILDCARDS = ['0.0.0.0', '::'];

/** The issue of MANAGEMENT_PORT if it is PORT as well, on the same address. 0 is any free port, and never the same. */
export function portIssue(port: number, { HOST, PORT, MANAGEMENT_HOST }: GivenValues): string | undefined {
  const addresses = (host: unknown) => (host === 'localhost' ? ['127.0.0.1', '::1'] : [String(host)]);
  const [ones, others] = [addresses(HOST), addresses(MANAGEMENT_HOST)];
  const overlap =
    ones.some((host) => others.includes(host)) ||
    [...ones, ...others].some((host) => WILDCARDS.includes(host));
  return port !== 0 && port === Number(PORT) && overlap
    ? 'MANAGEMENT_PORT and PORT name one port, and the service listens on two; choose another for one of them'
    : undefined;
}

/** Whether a text is an https address in normal form. Clients compare it as text, and headers contain it. */
export function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host, pathname } = new URL(text);
  // An address that begins with two slashes would name another host (RFC 3986 section 4.2).
  const isPlain = text === `https://${host}${pathname.replace(/\/$/, '')}` && !pathname.startsWith('//');
  // The self-signed certificate holds this host, and must hold no wildcard.
  return protocol === 'https:' && isPlain && !host.includes('*');
}

/**
 * The issue of an issuer by RFC 8414 section 2, in normal form, with or without a slash at the end. Plain HTTP is allowed
 * on loopback addresses. The service itself is not accepted.
 */
export function issuerIssue(text: string, { PUBLIC_URL, PORT }: GivenValues): string | undefined {
  if (!URL.canParse(text)) return MALFORMED_ISSUER;
  const { protocol, hostname, username, password, href } = new URL(text);
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback);
  const isPlain = (href === text || href === `${text}/`) && username + password === '' && !/[?#]/.test(text);
  if (!isSafe || !isPlain) return MALFORMED_ISSUER;
  // Parsers drop the default port of https.
  const own = String(PUBLIC_URL || `https://localhost:${PORT}`).replace(/:443$/, '');
  return text.replace(/\/$/, '') === own
    ? 'OAUTH_ISSUER must be another than this service itself, whose own tokens are taken anyway'
    : undefined;
}

const MALFORMED_ISSUER =
  'OAUTH_ISSUER must be an https:// address without query or fragment, or http:// of this machine';

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
