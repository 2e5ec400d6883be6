import { dirname, join, resolve } from 'node:path';
import { checkFiles, checkLocalCa } from '../adapters/outbound/certificates/check.js';
import {
  checkClock,
  checkFolder,
  checkFreeSpace,
  checkPorts,
  checkSecrecy,
} from '../adapters/outbound/system/check.js';
import { SystemClock } from '../adapters/outbound/system/clock.js';
import { type Diagnosis, type DiagnosticReport, ok, warning } from '../application/ports/diagnostics.js';
import { certificateNames, type Settings } from '../config/settings.js';
import { forgetsEverything, STORES, type Stores, storesWith } from './stores/index.js';
import { TABLES } from './tables.js';

const CLOCK = new SystemClock();

/**
 * Examines what a service with these settings uses, and changes nothing: no file, no index, no listening socket. A
 * service may run meanwhile.
 * @param deep whether to look for damage in a large database as well
 */
export async function* checkService(
  settings: Settings,
  deep: boolean,
  stores: Stores = STORES,
): AsyncGenerator<Diagnosis> {
  const dataDir = resolve(settings.DATA_DIR);
  yield checkFolder('DATA_DIR', dataDir);
  const store = await inspectStore(settings, deep, stores);
  yield* store.diagnoses;
  yield* await CERTIFICATES[settings.TLS](settings);
  const redis = await inspectRedis(settings);
  yield* redis.diagnoses;
  yield* checkClock([store.time, redis.time]);
  const files = stores[settings.STORE]?.kept?.files?.(settings);
  yield* checkFreeSpace(files ? [dataDir, dirname(files.database)] : [dataDir]);
  yield* checkSecrecy([...(files?.secret ?? []), ...secretKeys(settings)]);
  const { HOST, PORT, MANAGEMENT_HOST, MANAGEMENT_PORT } = settings;
  yield* await checkPorts(
    { setting: 'PORT', host: HOST, port: PORT },
    { setting: 'MANAGEMENT_PORT', host: MANAGEMENT_HOST, port: MANAGEMENT_PORT },
  );
}

async function inspectStore(settings: Settings, deep: boolean, stores: Stores): Promise<DiagnosticReport> {
  const kept = stores[settings.STORE]?.kept;
  if (kept) return kept.check(settings, { tables: TABLES, deep, now: () => CLOCK.now() });
  const message = forgetsEverything(settings.STORE);
  const remedy = `set STORE to ${storesWith((store) => store.kept !== undefined, stores)}, unless this is a trial`;
  return { diagnoses: [warning('store', message, remedy)] };
}

const CERTIFICATES: Readonly<Record<Settings['TLS'], (settings: Settings) => Promise<Diagnosis[]>>> = {
  'self-signed': (settings) =>
    checkLocalCa(join(resolve(settings.DATA_DIR), 'tls'), certificateNames(settings), CLOCK.now()),
  files: ({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, PUBLIC_URL }) =>
    checkFiles({ certFile, keyFile }, certificateNames({ TLS_NAMES: '', PUBLIC_URL }), CLOCK.now()),
  proxy: async () => [ok('certificate', 'the proxy has it (TLS=proxy)')],
};

async function inspectRedis({ RATE_LIMITER, REDIS_URL: url }: Settings): Promise<DiagnosticReport> {
  if (RATE_LIMITER !== 'redis') return { diagnoses: [ok('Redis', 'it is not used (RATE_LIMITER=memory)')] };
  const { checkRedis } = await import('../adapters/outbound/redis/connection.js');
  return checkRedis(url, () => CLOCK.now());
}

/** The files of certificates that the service creates for its owner alone. */
function secretKeys({ TLS, DATA_DIR }: Settings): string[] {
  if (TLS !== 'self-signed') return [];
  return ['ca-key.pem', 'server.pem'].map((name) => join(resolve(DATA_DIR), 'tls', name));
}
