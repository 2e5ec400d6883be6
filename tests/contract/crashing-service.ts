import { ServerResponse } from 'node:http';
import Database from 'libsql';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import type { Storage } from '#src/composition/storage.js';
import { STORES } from '#src/composition/stores.js';
import { loadSettings } from '#src/config/settings.js';

/** The service, but it kills itself at the step of a creation that the environment variable CRASH_AT names. */

type Step = 'before' | 'after';

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** Kills the process before or after this method of an object of the storage, on every store. */
function dieAround(step: Step, part: (storage: Storage) => object, name: string): void {
  const { STORE } = loadSettings();
  const load = STORES[STORE];
  Reflect.set(STORES, STORE, async () => {
    const makeStorage = await load();
    return (...args: Parameters<typeof makeStorage>) => {
      const storage = makeStorage(...args);
      const object = part(storage);
      const method = Reflect.get(object, name);
      Reflect.set(object, name, async (...values: unknown[]) => {
        if (step === 'before') die();
        const result = await method.apply(object, values);
        die();
        return result;
      });
      return storage;
    };
  });
}

/** Kills the process when the records are inserted but SQLite's transaction is not committed. */
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

const reservationsOf = ({ reservations }: Storage) => reservations.products;

const STEPS: Readonly<Record<string, () => void>> = {
  'before the reservation': () => dieAround('before', reservationsOf, 'reserve'),
  'after the reservation': () => dieAround('after', reservationsOf, 'reserve'),
  'before the insertion is committed': dieBeforeCommit,
  'after the insertion': () => dieAround('after', ({ products }) => products, 'insertAll'),
  'before the response': dieBeforeResponse,
};

STEPS[process.env['CRASH_AT'] ?? '']?.();
await import('#src/main.js');
