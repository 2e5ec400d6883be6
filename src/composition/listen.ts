import type { AddressInfo, Server } from 'node:net';
import { SettingsError } from '../config/settings.js';
import { systemReason } from '../shared/system-reason.js';

/** Another program listens on this address. The message is for a person. */
export class AddressInUse extends Error {}

/** The settings of an address and a port. */
export interface AddressSettings {
  readonly host: 'HOST' | 'MANAGEMENT_HOST';
  readonly port: 'PORT' | 'MANAGEMENT_PORT';
}

const ANOTHER = 'Another instance of the service may be running';
const ADVICE: Readonly<Record<AddressSettings['port'], string>> = {
  PORT: 'stop it, or choose another port',
  MANAGEMENT_PORT: 'each needs a MANAGEMENT_PORT of its own besides its PORT, and 0 takes any free one',
};

/**
 * Starts to listen.
 * @param port 0: any free port
 * @param settings for messages, which are the same for one process and for several that share the port
 * @returns the port
 * @throws AddressInUse; SettingsError if the address cannot be used; any other error of the system
 */
export function listen(
  server: Server,
  host: string,
  port: number,
  settings: AddressSettings = { host: 'HOST', port: 'PORT' },
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explained(error, host, port, settings)));
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

function explained(
  error: NodeJS.ErrnoException,
  host: string,
  port: number,
  settings: AddressSettings,
): Error {
  const { code } = error;
  switch (code) {
    case 'EADDRINUSE':
      return new AddressInUse(
        `${settings.port}: ${host}:${port} is in use. ${ANOTHER}; ${ADVICE[settings.port]}.`,
      );
    case 'EADDRNOTAVAIL':
      return new SettingsError([`${settings.host}: ${host} is no address of this machine (${code}).`]);
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
