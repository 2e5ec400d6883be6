import { request } from 'node:http';
import { connect } from 'node:net';
import type { Diagnosis } from '../../../application/ports/diagnostics.js';

const PATIENCE_MS = 2_000;

/** An address with its port, and the setting that has the port. */
export interface Listener {
  readonly setting: string;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** Whether a service runs there already, else whether its ports are free. */
export async function checkPorts(service: Listener, management: Listener): Promise<Diagnosis[]> {
  const state = management.port === 0 ? undefined : await readiness(management.host, management.port);
  if (state === 'ready')
    return [
      { subject: 'ports', verdict: 'ok', message: 'a service runs on the management port, and is ready' },
    ];
  if (state === 'not ready') {
    const message = 'a service runs on the management port, and is not ready';
    const remedy = 'see its log: its store cannot be reached, its files were lost, or it is stopping';
    return [{ subject: 'ports', verdict: 'wrong', message, remedy }];
  }
  return Promise.all([service, management].map(checkPort));
}

async function checkPort({ setting, host, port }: Listener): Promise<Diagnosis> {
  if (port === 0) return { subject: 'ports', verdict: 'ok', message: `${setting}=0 takes any free port` };
  if (!(await isListening(host, port)))
    return { subject: 'ports', verdict: 'ok', message: `nothing listens on ${setting}, ${host}:${port}` };
  const remedy = `stop that program, or choose another ${setting}`;
  const message = `another program listens on ${setting}, ${host}:${port}`;
  return { subject: 'ports', verdict: 'warning', message, remedy };
}

/** Whether a program accepts connections there. A wildcard address stands for this machine. */
function isListening(host: string, port: number): Promise<boolean> {
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
function readiness(host: string, port: number): Promise<'ready' | 'not ready' | undefined> {
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
