import { randomUUID } from 'node:crypto';
import { type Db, MongoClient } from 'mongodb';
import { UNFINISHED_COPY } from '../../../application/ports/archive.js';
import {
  type Diagnosis,
  type DiagnosticReport,
  ok,
  unusableRecords,
  warning,
  wrong,
} from '../../../application/ports/diagnostics.js';
import { StoreConfigError } from '../../../application/ports/store.js';
import type { StoredTable } from '../../../application/ports/table-store.js';
import { AppError } from '../../../domain/errors.js';
import { checkNumberTypes, checkServer, parseConnectionString } from './connection.js';
import { type LiveDocument, reservationCollection, USAGE } from './documents.js';
import { translateError } from './errors.js';
import { existingIndexes, findUnusableIndexes, wantedIndexes } from './indexes.js';

const PATIENCE_MS = 5_000;

/**
 * Examines a replica set. It creates no collection and no index; a document that shows whether the server stores types of
 * numbers is there for a moment.
 */
export async function checkMongo(
  url: string,
  tables: readonly StoredTable[],
  now: () => number,
): Promise<DiagnosticReport> {
  let client: MongoClient | undefined;
  try {
    const { options, hosts, database } = parseConnectionString(url, PATIENCE_MS);
    client = new MongoClient(url, { ...options, minPoolSize: 0, serverSelectionTimeoutMS: PATIENCE_MS });
    const hello = await client.db(database).command({ hello: 1 });
    const readAt = now();
    checkServer(hello);
    await checkTypes(client.db(database));
    const { version } = await client.db(database).command({ buildInfo: 1 });
    const where = hello['setName'] ? `replica set ${hello['setName']}` : 'mongos';
    const time = { kind: 'now', of: "MongoDB's clock", at: Number(hello['localTime']), readAt } as const;
    return {
      diagnoses: [
        ok('store', `MongoDB ${version} responds at ${hosts} (${where}), database ${database}`),
        await checkIndexes(client.db(database), tables),
        ...(await unfinishedCopyIn(client.db(database))),
        ...(await unusableIn(client.db(database), tables)),
      ],
      ...(hello['localTime'] instanceof Date && { time }),
    };
  } catch (error) {
    return { diagnoses: [diagnosisOf(error)] };
  } finally {
    await client?.close();
  }
}

async function unfinishedCopyIn(database: Db): Promise<Diagnosis[]> {
  const marks = await database.collection(reservationCollection(UNFINISHED_COPY)).countDocuments();
  return marks === 0 ? [] : [wrong('store', UNFINISHED_COPY.message, UNFINISHED_COPY.remedy)];
}

function unusableIn(database: Db, tables: readonly StoredTable[]): Promise<Diagnosis[]> {
  return unusableRecords(tables, async (name) => {
    const records = database.collection<LiveDocument>(name).find({ live: true }).sort({ _id: 1 });
    return (await records.toArray()).map(({ _id, fields }) => [_id, fields]);
  });
}

/** Before the first start there is no collection for the scratch document. One of its own is dropped again. */
async function checkTypes(database: Db): Promise<void> {
  if ((await existingIndexes(database, USAGE))?.length) return checkNumberTypes(database, USAGE);
  const own = `scratch_${randomUUID()}`;
  try {
    await checkNumberTypes(database, own);
  } finally {
    await database.dropCollection(own);
  }
}

async function checkIndexes(database: Db, tables: readonly StoredTable[]): Promise<Diagnosis> {
  const problems: string[] = [];
  const missing: string[] = [];
  for (const one of wantedIndexes(tables)) {
    const found = await existingIndexes(database, one.collection);
    problems.push(...findUnusableIndexes(one, found ?? []));
    const names = new Set(found?.map(({ name }) => name));
    if (found)
      missing.push(
        ...one.indexes.filter(({ name }) => !names.has(name ?? '')).map(({ name }) => `${one.collection}.${name}`),
      );
  }
  if (problems.length > 0) return wrong('indexes', problems.join(' '), 'drop them, then start the service');
  if (missing.length === 0) return ok('indexes', 'all indexes of the existing collections are there');
  const remedy = 'the next start creates them; in a large collection that takes minutes';
  return warning('indexes', `these indexes are missing: ${missing.join(', ')}`, remedy);
}

function diagnosisOf(error: unknown): Diagnosis {
  const translated = translateError(error);
  if (translated instanceof StoreConfigError)
    return wrong('store', translated.message.replaceAll('\n', ' '), 'correct MONGODB_URL or the server');
  if (translated instanceof AppError)
    return wrong(
      'store',
      'MongoDB does not respond as a replica set, or refuses the password',
      'start it, and check the hosts, the name and the password in MONGODB_URL',
    );
  // The words of the driver may quote the URL.
  const { name } = error as Error;
  return wrong('store', `MongoDB cannot be used (${name})`, "see the driver's manual for MONGODB_URL");
}
