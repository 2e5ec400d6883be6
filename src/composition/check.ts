import { dirname, join, resolve } from 'node:path';
import { checkFiles, checkLocalCa } from '../adapters/outbound/certificates/check.js';
import { checkFolder, checkFreeSpace, checkSecrecy } from '../adapters/outbound/system/check-files.js';
import { SystemClock } from '../adapters/outbound/system/clock.js';
import { isListening, readiness } from '../adapters/outbound/system/probe-ports.js';
import type { Diagnosis, DiagnosticReport, TimeReading } from '../application/ports/diagnostics.js';
import type { Settings } from '../config/settings.js';
import { certificateNames } from './certificate-names.js';
import { RESOURCE_TABLES } from './tables.js';

/** OAuth tolerates 5 seconds, and the times of signing keys a minute: see docs/how-to/operations.md. */
const CLOCK_WARNING_MS = 5_000;
const CLOCK_WRONG_MS = 60_000;

const CLOCK = new SystemClock();

/**
 * Examines what a service with these settings uses, and changes nothing: no file, no index, no listening socket. A
 * service may run meanwhile.
 * @param deep whether to look for damage in a large database as well
 */
export async function* checkService(settings: Settings, deep: boolean): AsyncGenerator<Diagnosis> {
  const dataDir = resolve(settings.DATA_DIR);
  yield checkFolder('DATA_DIR', dataDir);
  const store = await STORES[settings.STORE](settings, deep);
  yield* store.findings;
  yield* await CERTIFICATES[settings.TLS](settings);
  const redis = await inspectRedis(settings);
  yield* redis.findings;
  yield* clockFindings([store.time, redis.time]);
  const folders = settings.STORE === 'sqlite' ? [dataDir, dirname(databaseOf(settings))] : [dataDir];
  yield* checkFreeSpace(folders);
  yield* checkSecrecy(secretFiles(settings));
  yield* await checkPorts(settings);
}

const STORES: Readonly<
  Record<Settings['STORE'], (settings: Settings, deep: boolean) => Promise<DiagnosticReport>>
> = {
  memory: async () => {
    const message = 'STORE=memory forgets everything when the process ends';
    const remedy = 'set STORE to sqlite or mongodb, unless this is a trial';
    return { findings: [{ subject: 'store', verdict: 'warning', message, remedy }] };
  },
  sqlite: async (settings, deep) => {
    const file = databaseOf(settings);
    const folder = checkFolder('SQLITE_FILE', dirname(file));
    const { checkDatabase } = await import('../adapters/outbound/sqlite/diagnostics.js');
    const tables = RESOURCE_TABLES.map(({ name }) => name);
    const inspection = checkDatabase(file, { tables, deep, now: CLOCK.now() });
    return {
      ...inspection,
      findings: [...inspection.findings, ...(folder.verdict === 'ok' ? [] : [folder])],
    };
  },
  mongodb: async ({ MONGODB_URL: url }) => {
    const { mongoIndexes } = await import('./mongo-storage.js');
    const { checkMongo } = await import('../adapters/outbound/mongo/check.js');
    return checkMongo(url, mongoIndexes(), () => CLOCK.now());
  },
};

const CERTIFICATES: Readonly<Record<Settings['TLS'], (settings: Settings) => Promise<Diagnosis[]>>> = {
  'self-signed': (settings) =>
    checkLocalCa(join(resolve(settings.DATA_DIR), 'tls'), certificateNames(settings), CLOCK.now()),
  files: ({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, PUBLIC_URL }) =>
    checkFiles({ certFile, keyFile }, certificateNames({ TLS_NAMES: '', PUBLIC_URL }), CLOCK.now()),
  proxy: async () => [{ subject: 'certificate', verdict: 'ok', message: 'the proxy has it (TLS=proxy)' }],
};

async function inspectRedis({ RATE_LIMITER, REDIS_URL: url }: Settings): Promise<DiagnosticReport> {
  if (RATE_LIMITER !== 'redis')
    return {
      findings: [{ subject: 'Redis', verdict: 'ok', message: 'it is not used (RATE_LIMITER=memory)' }],
    };
  const { checkRedis } = await import('../adapters/outbound/redis/check.js');
  return checkRedis(url, () => CLOCK.now());
}

function* clockFindings(readings: readonly (TimeReading | undefined)[]): Generator<Diagnosis> {
  const known = readings.filter((reading) => reading !== undefined);
  for (const reading of known) yield clockFinding(reading);
  if (known.some(({ kind }) => kind === 'now')) return;
  const message = 'there is no other clock here to compare with';
  yield { subject: 'clock', verdict: 'ok', message: `${message}; make sure that this machine uses NTP` };
}

function clockFinding({ kind, of, at, readAt }: TimeReading): Diagnosis {
  const aheadMs = readAt - at;
  const offMs = kind === 'now' ? Math.abs(aheadMs) : Math.max(0, -aheadMs);
  const seconds = (offMs / 1_000).toFixed(1);
  const remedy = 'synchronise the clocks of all machines (NTP)';
  if (kind === 'past') {
    if (offMs <= CLOCK_WARNING_MS) return { subject: 'clock', verdict: 'ok', message: `it is after ${of}` };
    return { subject: 'clock', verdict: 'wrong', message: `${of} is ${seconds} s in the future`, remedy };
  }
  const message = `it differs from ${of} by ${seconds} s`;
  if (offMs <= CLOCK_WARNING_MS) return { subject: 'clock', verdict: 'ok', message };
  return { subject: 'clock', verdict: offMs > CLOCK_WRONG_MS ? 'wrong' : 'warning', message, remedy };
}

/** The files that the service creates for its owner alone. */
function secretFiles(settings: Settings): string[] {
  const file = databaseOf(settings);
  const database = settings.STORE === 'sqlite' ? [file, `${file}-wal`] : [];
  const tls = ['ca-key.pem', 'server.pem'].map((name) => join(resolve(settings.DATA_DIR), 'tls', name));
  return [...database, ...(settings.TLS === 'self-signed' ? tls : [])];
}

async function checkPorts(settings: Settings): Promise<Diagnosis[]> {
  const { HOST, PORT, MANAGEMENT_HOST, MANAGEMENT_PORT } = settings;
  const state = MANAGEMENT_PORT === 0 ? undefined : await readiness(MANAGEMENT_HOST, MANAGEMENT_PORT);
  if (state === 'ready')
    return [
      { subject: 'ports', verdict: 'ok', message: 'a service runs on the management port, and is ready' },
    ];
  if (state === 'not ready') {
    const message = 'a service runs on the management port, and is not ready';
    const remedy = 'see its log: its store cannot be reached, its files were lost, or it is stopping';
    return [{ subject: 'ports', verdict: 'wrong', message, remedy }];
  }
  const ports = [
    { setting: 'PORT', host: HOST, port: PORT },
    { setting: 'MANAGEMENT_PORT', host: MANAGEMENT_HOST, port: MANAGEMENT_PORT },
  ];
  return Promise.all(ports.map(checkPort));
}

async function checkPort({
  setting,
  host,
  port,
}: {
  setting: string;
  host: string;
  port: number;
}): Promise<Diagnosis> {
  if (port === 0) return { subject: 'ports', verdict: 'ok', message: `${setting}=0 takes any free port` };
  if (!(await isListening(host, port)))
    return { subject: 'ports', verdict: 'ok', message: `nothing listens on ${setting}, ${host}:${port}` };
  const remedy = `stop that program, or choose another ${setting}`;
  const message = `another program listens on ${setting}, ${host}:${port}`;
  return { subject: 'ports', verdict: 'warning', message, remedy };
}

function databaseOf(settings: Settings): string {
  return resolve(settings.SQLITE_FILE);
}
