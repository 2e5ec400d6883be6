import { ServerResponse } from 'node:http';
import Database from 'libsql';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import { STORES } from '#src/composition/stores/index.js';
import type { StoreRegistration } from '#src/composition/stores/registration.js';
import { loadSettings } from '#src/config/settings.js';

/** The service, but it kills itself at the step of a creation that the environment variable CRASH_AT names. */

type Step = 'before' | 'after';

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

type Part = 'records' | 'reservations';

/** Kills the process before or after this method of what the store keeps of products, on every store. */
function dieAround(step: Step, part: Part, name: string): void {
  const { STORE } = loadSettings();
  const registration: StoreRegistration = STORES[STORE];
  const { load } = registration;
  const loadDeadly: typeof load = async (settings) => {
    const makeParts = await load(settings);
    return (options) => {
      const parts = makeParts(options);
      return {
        ...parts,
        table: (table) => {
          const store = parts.table<never>(table);
          if (table.name === 'products') makeDeadly(store[part], step, name);
          return store;
        },
      };
    };
  };
  Reflect.set(registration, 'load', loadDeadly);
}

function makeDeadly(object: object, step: Step, name: string): void {
  const method = Reflect.get(object, name);
  Reflect.set(object, name, async (...values: unknown[]) => {
    if (step === 'before') die();
    const result = await method.apply(object, values);
    die();
    return result;
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

const STEPS: Readonly<Record<string, () => void>> = {
  'before the reservation': () => dieAround('before', 'reservations', 'reserve'),
  'after the reservation': () => dieAround('after', 'reservations', 'reserve'),
  'before the insertion is committed': dieBeforeCommit,
  'after the insertion': () => dieAround('after', 'records', 'insertAll'),
  'before the response': dieBeforeResponse,
};

STEPS[process.env['CRASH_AT'] ?? '']?.();
await import('#src/main.js');
