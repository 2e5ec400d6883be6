import ipaddr from 'ipaddr.js';

/*
 * The IPv4 and IPv6 Special-Purpose Address Registries of IANA:
 * https://www.iana.org/assignments/iana-ipv4-special-registry/
 * https://www.iana.org/assignments/iana-ipv6-special-registry/
 * An entry is false unless its column "Globally Reachable" is True. A more specific entry stands before the one around it.
 */
type Entries = readonly (readonly [cidr: string, isGloballyReachable: boolean])[];

const IPV4: Entries = [
  ['0.0.0.0/8', false], // This network: RFC 791 section 3.2
  ['10.0.0.0/8', false], // Private use: RFC 1918
  ['100.64.0.0/10', false], // Shared address space: RFC 6598
  ['127.0.0.0/8', false], // Loopback: RFC 1122 section 3.2.1.3
  ['169.254.0.0/16', false], // Link local: RFC 3927
  ['172.16.0.0/12', false], // Private use: RFC 1918
  ['192.0.0.9/32', true], // Port Control Protocol anycast: RFC 7723
  ['192.0.0.10/32', true], // Traversal Using Relays around NAT anycast: RFC 8155
  ['192.0.0.0/24', false], // IETF protocol assignments: RFC 6890, with those of RFC 7335, 7600, 7050 and 8880
  ['192.0.2.0/24', false], // Documentation: RFC 5737
  ['192.31.196.0/24', true], // AS112-v4: RFC 7535
  ['192.52.193.0/24', true], // AMT: RFC 7450
  ['192.88.99.0/24', false], // 6to4 relay anycast, deprecated: RFC 7526, and 6a44: RFC 6751
  ['192.168.0.0/16', false], // Private use: RFC 1918
  ['192.175.48.0/24', true], // Direct delegation AS112 service: RFC 7534
  ['198.18.0.0/15', false], // Benchmarking: RFC 2544
  ['198.51.100.0/24', false], // Documentation: RFC 5737
  ['203.0.113.0/24', false], // Documentation: RFC 5737
  ['224.0.0.0/4', false], // Multicast, which is not unicast: RFC 5771
  ['240.0.0.0/4', false], // Reserved: RFC 1112 section 4, and the limited broadcast: RFC 8190
  ['0.0.0.0/0', true],
];

const IPV6: Entries = [
  ['2001:1::1/128', true], // Port Control Protocol anycast: RFC 7723
  ['2001:1::2/128', true], // Traversal Using Relays around NAT anycast: RFC 8155
  ['2001:1::3/128', true], // DNS-SD Service Registration Protocol anycast: RFC 9665
  ['2001:3::/32', true], // AMT: RFC 7450
  ['2001:4:112::/48', true], // AS112-v6: RFC 7535
  ['2001:20::/28', true], // ORCHIDv2: RFC 7343
  ['2001:30::/28', true], // Drone remote identification: RFC 9374
  ['2001::/23', false], // IETF protocol assignments: RFC 2928, with benchmarking (RFC 5180) and ORCHID (RFC 4843)
  ['2001:db8::/32', false], // Documentation: RFC 3849
  ['2620:4f:8000::/48', true], // Direct delegation AS112 service: RFC 7534
  ['3fff::/20', false], // Documentation: RFC 9637
  ['2000::/3', true], // Global unicast: RFC 3513 section 2.5.4
  // Whatever is not allocated as global unicast, in the registry of the address space of IPv6: loopback, unspecified and
  // discarded addresses (RFC 4291, RFC 6666, RFC 9780), local translation (RFC 8215), segment routing (RFC 9602), unique
  // local (RFC 4193), link-local and multicast addresses (RFC 4291).
  ['::/0', false],
];

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [start: Address, prefix: number];

const RANGES = [...IPV4, ...IPV6].map(([cidr, isReachable]) => ({
  range: ipaddr.parseCIDR(cidr),
  isReachable,
}));

/** Where an IPv4 address stands in IPv6 addresses, in bytes. Those of a Teredo client are inverted. */
const EMBEDDED: readonly {
  readonly in: string;
  readonly at: readonly number[];
  readonly inverted?: number;
}[] = [
  { in: '::ffff:0:0/96', at: [12] }, // IPv4-mapped: RFC 4291 section 2.5.5.2
  { in: '64:ff9b::/96', at: [12] }, // Translation by the well-known prefix: RFC 6052 section 2.1
  { in: '2002::/16', at: [2] }, // 6to4: RFC 3056 section 2
  { in: '2001::/32', at: [4], inverted: 12 }, // The server and the client of Teredo: RFC 4380 section 4
  { in: '::/96', at: [12] }, // IPv4-compatible, with the unspecified and the loopback address: RFC 4291 section 2.5.5.1
];
const EMBEDDED_RANGES = EMBEDDED.map((one) => ({ ...one, range: ipaddr.parseCIDR(one.in) }));

/** The addresses to which the service may connect on behalf of a client. */
export class AllowedAddresses {
  private readonly networks: readonly Range[];

  /** @param networks valid addresses and CIDRs that are allowed besides, separated by commas; empty: none */
  constructor(networks: string) {
    this.networks = networks === '' ? [] : networks.split(',').map((text) => rangeOf(text.trim()));
  }

  /**
   * Whether an address is global unicast, or in one of the networks. An IPv6 address with IPv4 addresses in it counts as
   * each of these.
   * @param text an IP address, without a zone
   */
  includes(text: string): boolean {
    return ipaddr.isValid(text) && this.allows(ipaddr.parse(text));
  }

  private allows(address: Address): boolean {
    if (this.networks.some((range) => isIn(address, range))) return true;
    const embedded = address instanceof ipaddr.IPv6 ? embeddedIn(address) : [];
    if (embedded.length > 0) return embedded.every((one) => this.allows(one));
    return RANGES.find(({ range }) => isIn(address, range))?.isReachable === true;
  }
}

function embeddedIn(address: ipaddr.IPv6): Address[] {
  const found = EMBEDDED_RANGES.find(({ range }) => isIn(address, range));
  if (!found) return [];
  const bytes = address.toByteArray();
  const four = (at: number) => bytes.slice(at, at + 4);
  const inverted = found.inverted === undefined ? [] : [four(found.inverted).map((byte) => byte ^ 0xff)];
  return [...found.at.map(four), ...inverted].map((octets) => new ipaddr.IPv4(octets));
}

function isIn(address: Address, [start, prefix]: Range): boolean {
  return address.kind() === start.kind() && address.match(start, prefix);
}

function rangeOf(text: string): Range {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const start = ipaddr.parse(text);
  return [start, start.toByteArray().length * 8];
}
