import { ServerResponse } from 'node:http';
import Database from 'libsql';
import { MongoIdempotencyStore } from '#src/adapters/outbound/mongo/idempotency-store.js';
import { MongoRepository } from '#src/adapters/outbound/mongo/repository.js';
import { SqliteIdempotencyStore } from '#src/adapters/outbound/sqlite/idempotency-store.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/repository.js';

/** The service, but it kills itself at the step of a creation that the environment variable CRASH_AT names. */

const STORES = [SqliteIdempotencyStore.prototype, MongoIdempotencyStore.prototype];
const REPOSITORIES = [SqliteRepository.prototype, MongoRepository.prototype];

type Step = 'before' | 'after';

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** Kills the process before or after this method of a store, for products only. */
function dieAround(step: Step, prototype: object, name: string): void {
  const method = Reflect.get(prototype, name);
  Reflect.set(prototype, name, async function (this: { table: { name: string } }, ...args: unknown[]) {
    const isProducts = this.table.name === 'products';
    if (isProducts && step === 'before') die();
    const result = await method.apply(this, args);
    if (isProducts) die();
    return result;
  });
}

/** Kills the process when the records are inserted but the transaction is not committed. */
function dieBeforeCommit(): void {
  const { insertAll } = SqliteRepository.prototype;
  const { exec } = Database.prototype;
  let isArmed = false;
  SqliteRepository.prototype.insertAll = function (records) {
    isArmed = Reflect.get(this, 'table').name === 'products';
    return insertAll.call(this, records);
  };
  Database.prototype.exec = function (sql) {
    if (isArmed && sql === 'COMMIT') die();
    return exec.call(this, sql);
  };
}

function dieBeforeResponse(): void {
  const { end } = ServerResponse.prototype;
  Reflect.set(ServerResponse.prototype, 'end', function (this: ServerResponse, ...args: unknown[]) {
    if (this.statusCode === 201) die();
    return Reflect.apply(end, this, args);
  });
}

const STEPS: Readonly<Record<string, () => void>> = {
  'before the reservation': () => {
    for (const store of STORES) dieAround('before', store, 'reserve');
  },
  'after the reservation': () => {
    for (const store of STORES) dieAround('after', store, 'reserve');
  },
  'before the insertion is committed': dieBeforeCommit,
  'after the insertion': () => {
    for (const repository of REPOSITORIES) dieAround('after', repository, 'insertAll');
  },
  'before the response': dieBeforeResponse,
};

STEPS[process.env['CRASH_AT'] ?? '']?.();
await import('#src/main.js');
