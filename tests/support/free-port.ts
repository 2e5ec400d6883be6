import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that Linux gives to port 0 and to outgoing connections (`net.ipv4.ip_local_port_range`: from 32,768).
 */
const FIRST = 20_000;
const COUNT = 10_000;
/** Processes begin at different places, so that they rarely meet. */
let next = (process.pid * 97) % COUNT;

/**
 * Returns a port of the loopback address on which nothing listens, and which no other caller gets until this process
 * ends. For programs that cannot say which port they took, that listen on the same port again, or that must find nobody
 * there; anything else listens on port 0. The claim is a UDP socket with the number of the port.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < COUNT; attempt++) {
    const port = FIRST + (next++ % COUNT);
    if ((await claim(port)) && (await isUnused(port))) return port;
  }
  throw new Error(`no port from ${FIRST} to ${FIRST + COUNT - 1} is free`);
}

async function claim(port: number): Promise<boolean> {
  const claimed = createSocket('udp4').unref().bind({ port, address: '127.0.0.1', exclusive: true });
  return once(claimed, 'listening').then(
    () => true,
    () => false,
  );
}

async function isUnused(port: number): Promise<boolean> {
  const server = createServer().listen({ port, host: '127.0.0.1', exclusive: true });
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
