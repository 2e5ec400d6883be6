import { dirname, join, resolve } from 'node:path';
import { checkFiles, checkLocalCa } from '../adapters/outbound/certificates/check.js';
import { checkClock } from '../adapters/outbound/system/check-clock.js';
import { checkFolder, checkFreeSpace, checkSecrecy } from '../adapters/outbound/system/check-files.js';
import { checkPorts } from '../adapters/outbound/system/check-ports.js';
import { SystemClock } from '../adapters/outbound/system/clock.js';
import type { Diagnosis, DiagnosticReport } from '../application/ports/diagnostics.js';
import { certificateNames } from '../config/certificate-names.js';
import type { Settings } from '../config/settings.js';
import { RESOURCE_TABLES } from './tables.js';

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
  yield* store.diagnoses;
  yield* await CERTIFICATES[settings.TLS](settings);
  const redis = await inspectRedis(settings);
  yield* redis.diagnoses;
  yield* checkClock([store.time, redis.time]);
  const folders = settings.STORE === 'sqlite' ? [dataDir, dirname(databaseOf(settings))] : [dataDir];
  yield* checkFreeSpace(folders);
  yield* checkSecrecy(secretFiles(settings));
  const { HOST, PORT, MANAGEMENT_HOST, MANAGEMENT_PORT } = settings;
  yield* await checkPorts(
    { setting: 'PORT', host: HOST, port: PORT },
    { setting: 'MANAGEMENT_PORT', host: MANAGEMENT_HOST, port: MANAGEMENT_PORT },
  );
}

const STORES: Readonly<
  Record<Settings['STORE'], (settings: Settings, deep: boolean) => Promise<DiagnosticReport>>
> = {
  memory: async () => {
    const message = 'STORE=memory forgets everything when the process ends';
    const remedy = 'set STORE to sqlite or mongodb, unless this is a trial';
    return { diagnoses: [{ subject: 'store', verdict: 'warning', message, remedy }] };
  },
  sqlite: async (settings, deep) => {
    const file = databaseOf(settings);
    const folder = checkFolder('SQLITE_FILE', dirname(file));
    const { checkDatabase } = await import('../adapters/outbound/sqlite/diagnostics.js');
    const tables = RESOURCE_TABLES.map(({ name }) => name);
    const report = checkDatabase(file, { tables, deep, now: CLOCK.now() });
    return {
      ...report,
      diagnoses: [...report.diagnoses, ...(folder.verdict === 'ok' ? [] : [folder])],
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
      diagnoses: [{ subject: 'Redis', verdict: 'ok', message: 'it is not used (RATE_LIMITER=memory)' }],
    };
  const { checkRedis } = await import('../adapters/outbound/redis/check.js');
  return checkRedis(url, () => CLOCK.now());
}

/** The files that the service creates for its owner alone. */
function secretFiles(settings: Settings): string[] {
  const file = databaseOf(settings);
  const database = settings.STORE === 'sqlite' ? [file, `${file}-wal`] : [];
  const tls = ['ca-key.pem', 'server.pem'].map((name) => join(resolve(settings.DATA_DIR), 'tls', name));
  return [...database, ...(settings.TLS === 'self-signed' ? tls : [])];
}

function databaseOf(settings: Settings): string {
  return resolve(settings.SQLITE_FILE);
}
