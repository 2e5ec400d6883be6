import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An IPv4 address that is mapped into IPv6 (RFC 4291 section 2.5.5.2) is that IPv4 address. */
export function parseAddress(text: string | undefined): Address | undefined {
  return text !== undefined && isIP(text) ? ipaddr.process(text) : undefined;
}

/** What a client is limited by: its IPv4 address, or the /64 of its IPv6 address, which is one subscriber's. */
export function networkOf(address: Address | undefined): string {
  if (address === undefined) return 'unknown';
  if (address instanceof ipaddr.IPv4) return address.toString();
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
