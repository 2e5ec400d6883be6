import { request } from 'node:http';
import { connect } from 'node:net';

const PATIENCE_MS = 2_000;

/** Whether a program accepts connections there. A wildcard address stands for this machine. */
export function isListening(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: reachable(host), port, timeout: PATIENCE_MS });
    const end = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
}

/**
 * Asks a management port whether its service is ready.
 * @returns undefined if no service of ours responds
 */
export function readiness(host: string, port: number): Promise<'ready' | 'not ready' | undefined> {
  return new Promise((resolve) => {
    const options = {
      host: reachable(host),
      port,
      path: '/health/ready',
      timeout: PATIENCE_MS,
      agent: false,
    };
    const probe = request(options, (response) => {
      response.resume();
      const isOurs = response.headers['x-request-id'] !== undefined;
      if (isOurs && response.statusCode === 200) resolve('ready');
      else resolve(isOurs && response.statusCode === 503 ? 'not ready' : undefined);
    });
    probe.once('timeout', () => probe.destroy());
    probe.once('error', () => resolve(undefined));
    probe.once('close', () => resolve(undefined));
    probe.end();
  });
}

function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
