import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { type Diagnosis, ok, type TimeReading, warning, wrong } from '../../../application/ports/diagnostics.js';
import { systemReason } from '../../../shared/shown-text.js';

/** OAuth tolerates 5 seconds, and the times of signing keys a minute: see docs/how-to/operations.md. */
const CLOCK_WARNING_MS = 5_000;
const CLOCK_WRONG_MS = 60_000;

/** Whether the clock of this machine agrees with the times of others. */
export function* checkClock(readings: readonly (TimeReading | undefined)[]): Generator<Diagnosis> {
  const known = readings.filter((reading) => reading !== undefined);
  for (const reading of known) yield clockDiagnosis(reading);
  if (known.some(({ kind }) => kind === 'now')) return;
  const message = 'there is no other clock here to compare with';
  yield ok('clock', `${message}; make sure that this machine uses NTP`);
}

function clockDiagnosis({ kind, of, at, readAt }: TimeReading): Diagnosis {
  const aheadMs = readAt - at;
  const offMs = kind === 'now' ? Math.abs(aheadMs) : Math.max(0, -aheadMs);
  const seconds = (offMs / 1_000).toFixed(1);
  const remedy = 'synchronise the clocks of all machines (NTP)';
  if (kind === 'past') {
    if (offMs <= CLOCK_WARNING_MS) return ok('clock', `it is after ${of}`);
    return wrong('clock', `${of} is ${seconds} s in the future`, remedy);
  }
  const message = `it differs from ${of} by ${seconds} s`;
  if (offMs <= CLOCK_WARNING_MS) return ok('clock', message);
  return { subject: 'clock', verdict: offMs > CLOCK_WRONG_MS ? 'wrong' : 'warning', message, remedy };
}

const MEBIBYTE = 1024 ** 2;
/** The unread results of all imports together may take this much. */
const NEEDED_MEBIBYTES = 512;

/** Whether a folder can hold new files, or can be created. */
export function checkFolder(subject: string, folder: string): Diagnosis {
  const existing = nearest(folder);
  try {
    if (!statSync(existing).isDirectory())
      return wrong(subject, `${existing} is a file`, `name a folder in ${subject}`);
    accessSync(existing, constants.W_OK | constants.X_OK);
  } catch (error) {
    const remedy = `give it to the user of the service, or name another folder in ${subject}`;
    return wrong(subject, `no file can be created in ${existing}: ${systemReason(error)}`, remedy);
  }
  return ok(
    subject,
    existing === folder ? `${folder} is writable` : `${folder} does not exist yet; the first start creates it`,
  );
}

/** The free space of the file systems of these folders. */
export function checkFreeSpace(folders: readonly string[]): Diagnosis[] {
  const systems = new Map(folders.map(nearest).map((folder) => [statSync(folder).dev, folder]));
  return [...systems.values()].map((folder) => {
    const { bavail, bsize } = statfsSync(folder);
    const free = Math.floor((bavail * bsize) / MEBIBYTE);
    const message = `${free.toLocaleString('en')} MiB are free in ${folder}`;
    if (free >= NEEDED_MEBIBYTES) return ok('free space', message);
    const remedy = `free at least ${NEEDED_MEBIBYTES} MiB: the results of imports alone may take that much`;
    return wrong('free space', message, remedy);
  });
}

/** Whether only their owner and group can use these files, of those that exist. */
export function checkSecrecy(files: readonly string[]): Diagnosis[] {
  const open = files.filter((file) => existsSync(file) && (statSync(file).mode & 0o007) !== 0);
  if (open.length === 0) return [ok('permissions', 'no secret can be read by all users of this machine')];
  return open.map((file) =>
    wrong('permissions', `every user of this machine can use ${file}, which holds secrets`, `chmod o= '${file}'`),
  );
}

/** The folder itself, or the closest one above it that exists. */
function nearest(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearest(dirname(folder));
}

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
  if (state === 'ready') return [ok('ports', 'a service runs on the management port, and is ready')];
  if (state === 'not ready') {
    const message = 'a service runs on the management port, and is not ready';
    const remedy = 'see its log: its store cannot be reached, its files were lost, or it is stopping';
    return [wrong('ports', message, remedy)];
  }
  return Promise.all([service, management].map(checkPort));
}

async function checkPort({ setting, host, port }: Listener): Promise<Diagnosis> {
  if (port === 0) return ok('ports', `${setting}=0 takes any free port`);
  if (!(await isListening(host, port))) return ok('ports', `nothing listens on ${setting}, ${host}:${port}`);
  const remedy = `stop that program, or choose another ${setting}`;
  const message = `another program listens on ${setting}, ${host}:${port}`;
  return warning('ports', message, remedy);
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
