import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

const known = new WeakMap<Socket, string>();

/** What a client without a principal is limited by: its IPv4 address, or the /64 of its IPv6 address. */
export function clientAddress(socket: Socket): string {
  let address = known.get(socket);
  if (address === undefined) {
    address = network(socket.remoteAddress);
    known.set(socket, address);
  }
  return address;
}

function network(remote: string | undefined): string {
  if (remote === undefined || !ipaddr.isValid(remote)) return 'unknown';
  const address = ipaddr.process(remote);
  if (address instanceof ipaddr.IPv4) return address.toString();
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
