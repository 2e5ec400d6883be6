import { type AddressInfo, createServer, type Server, type ServerOpts } from 'node:net';
import type { Logger } from '../application/ports/logger.js';
import { SettingsError } from '../config/settings.js';
import { systemReason } from '../shared/shown-text.js';

/** Another program listens on this address. The message is for a person. */
export class AddressInUse extends Error {}

export interface AddressSettings {
  readonly host: 'HOST' | 'MANAGEMENT_HOST';
  readonly port: 'PORT' | 'MANAGEMENT_PORT';
}

const ANOTHER = 'Another instance of the service may be running';
const ADVICE: Readonly<Record<AddressSettings['port'], string>> = {
  PORT: 'stop it, or choose another port',
  MANAGEMENT_PORT: 'each needs a MANAGEMENT_PORT of its own besides its PORT, and 0 takes any free one',
};

/** More connections than a fast restart lets wait; Linux caps it at `net.core.somaxconn`, 4,096 by default. */
const PASSED_SOCKET_BACKLOG = 4_096;

/** The addresses of the name `localhost` (RFC 6761, section 6.3). A machine may lack one of them. */
export const LOOPBACK: readonly string[] = ['127.0.0.1', '::1'];
const LACKS_ADDRESS = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'];

/** The settings of the address, for messages, which are the same for one process and for several that share the port. */
const SERVICE_SETTINGS: AddressSettings = { host: 'HOST', port: 'PORT' };

/**
 * Starts to listen; on `localhost`, on all its addresses that the machine has.
 * @param port 0: any free port
 * @param more called with another server that passes its connections to this one, and has to be closed with it
 * @returns the port
 * @throws AddressInUse; SettingsError if the address cannot be used; any other error of the system
 */
export async function listen(
  server: Server,
  host: string,
  port: number,
  settings: AddressSettings = SERVICE_SETTINGS,
  more: (other: Server) => void = () => {},
): Promise<number> {
  return listenOnAll(server, host === 'localhost' ? LOOPBACK : [host], port, settings, more);
}

/** As {@link listen}, on all of these addresses that the machine has. */
export async function listenOnAll(
  server: Server,
  hosts: readonly string[],
  port: number,
  settings = SERVICE_SETTINGS,
  more: (other: Server) => void = () => {},
): Promise<number> {
  const opened: Server[] = [];
  let lacking: unknown;
  let current = port;
  for (const host of hosts) {
    const next = opened.length === 0 ? server : passingTo(server);
    try {
      current = await listenOn(next, host, current, settings);
      opened.push(next);
    } catch (error) {
      if (hosts.length > 1 && isLacking(error)) lacking = error;
      else {
        for (const one of opened) one.close();
        throw error;
      }
    }
  }
  if (opened.length === 0) throw lacking;
  for (const other of opened.slice(1)) more(other);
  return current;
}

/** Node allows to inject connections into a server by its event. */
function passingTo(server: Server): Server {
  const { allowHalfOpen = false, noDelay = false } = server as ServerOpts;
  const other = createServer({ allowHalfOpen, noDelay });
  other.on('connection', (socket) => server.emit('connection', socket));
  other.once('listening', () => other.on('error', (error) => server.emit('error', error)));
  return other;
}

function isLacking(error: unknown): boolean {
  const { code = '' } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
  return LACKS_ADDRESS.includes(code);
}

function listenOn(server: Server, host: string, port: number, settings: AddressSettings): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(explained(error, host, port, settings));
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Logs errors of a server that listens, such as too many open files. It goes on to accept connections. */
export function logErrors(server: Server, logger: Logger): void {
  server.on('error', (error) => logger.error('a connection was not accepted', { error }));
}

/**
 * Accepts the connections of a socket on which a supervisor listens. Those that arrive while no process accepts wait in
 * the kernel, so the end of this process refuses none.
 * @returns the port
 */
export function listenOnPassedSocket(server: Server, descriptor: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(notASocket(error));
    server.once('error', fail);
    // Node ignores a backlog in the object.
    server.listen({ fd: descriptor }, PASSED_SOCKET_BACKLOG, () => {
      server.off('error', fail);
      const address = server.address();
      if (address !== null && typeof address === 'object') resolve(address.port);
      else reject(notASocket('it has no port'));
    });
  });
}

function notASocket(reason: unknown): SettingsError {
  const why = reason instanceof Error ? systemReason(reason) : reason;
  return new SettingsError([`LISTEN_FDS: the descriptor that was passed is no TCP socket: ${why}.`]);
}

function explained(error: NodeJS.ErrnoException, host: string, port: number, settings: AddressSettings): Error {
  const { code } = error;
  switch (code) {
    case 'EADDRINUSE':
      return new AddressInUse(`${settings.port}: ${host}:${port} is in use. ${ANOTHER}; ${ADVICE[settings.port]}.`);
    case 'EADDRNOTAVAIL':
      return new SettingsError([`${settings.host}: ${host} is no address of this machine (${code}).`], {
        cause: error,
      });
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new SettingsError([`${settings.host}: ${host} cannot be resolved (${code}).`]);
    case 'EACCES':
      return new SettingsError([
        `${settings.port}: this user may not listen on ${host}:${port} (${code}); ports below 1024 are often reserved.`,
      ]);
    default:
      return new Error(`The service cannot listen on ${host}:${port}: ${systemReason(error)}.`, {
        cause: error,
      });
  }
}
