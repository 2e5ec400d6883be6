import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Parses an IP address. An IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2) becomes the IPv4 address. */
export function parseAddress(text: string | undefined): Address | undefined {
  return text !== undefined && isIP(text) ? ipaddr.process(text) : undefined;
}

/** The key of limits: an IPv4 address, or the /64 of an IPv6 address, because one subscriber has a whole /64. */
export function networkOf(address: Address | undefined): string {
  if (address === undefined) return 'unknown';
  if (address instanceof ipaddr.IPv4) return address.toString();
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

interface Range {
  readonly start: Address;
  readonly prefix: number;
}

/**
 * An address in X-Forwarded-For, as proxies write it: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]:80`.
 */
const FORWARDED = /^(?:\[([\da-f:.]+)\](?::\d+)?|([\d.]+):\d+|([\da-f:.]+))$/i;

/** The proxies whose `X-Forwarded-For` is trusted. */
export class TrustedProxies {
  private readonly ranges: readonly Range[];

  /** @param list valid addresses and CIDRs, separated by commas */
  constructor(list: string) {
    this.ranges = list.split(',').map((text) => parseRange(text.trim()));
  }

  includes(address: Address): boolean {
    return this.ranges.some(({ start, prefix }) => {
      return start.kind() === address.kind() && address.match(start, prefix);
    });
  }

  /**
   * The IP address of the client: the right-most entry that is not a trusted proxy, because the client can forge
   * everything left of it. If an entry is not an address, the result is the proxy that wrote it.
   * @param proxy the trusted proxy that sent the request
   * @param forwardedFor the value of `X-Forwarded-For`
   */
  clientOf(proxy: Address, forwardedFor: string): Address {
    let client = proxy;
    for (const entry of forwardedFor.split(',').reverse()) {
      const address = parseForwarded(entry.trim());
      if (!address) break;
      client = address;
      if (!this.includes(address)) break;
    }
    return client;
  }
}

function parseForwarded(entry: string): Address | undefined {
  const [, bracketed, withPort, bare] = FORWARDED.exec(entry) ?? [];
  return parseAddress(bracketed ?? withPort ?? bare);
}

function parseRange(text: string): Range {
  if (!text.includes('/')) {
    const start = ipaddr.process(text);
    return { start, prefix: start.toByteArray().length * 8 };
  }
  const [start, prefix] = ipaddr.parseCIDR(text);
  const isMapped = start instanceof ipaddr.IPv6 && start.isIPv4MappedAddress() && prefix >= 96;
  return isMapped ? { start: start.toIPv4Address(), prefix: prefix - 96 } : { start, prefix };
}
