/** Kills a process at each step of a creation with an `Idempotency-Key`. A retry finishes it, and one record exists. */
import { join } from 'node:path';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { exactlyOnceContract } from '../contract/exactly-once.contract.js';
import { mongoSettings, withDatabase } from '../support/mongo-settings.js';

exactlyOnceContract(
  'SQLite',
  (folder) => ({
    settings: { STORE: 'sqlite', SQLITE_FILE: join(folder, 'catalogue.sqlite') },
    processes: 2,
    reserved: async () => {
      const database = new SqliteDatabase(join(folder, 'catalogue.sqlite'));
      await database.open();
      const sql = "SELECT id FROM reservations WHERE resource = 'products'";
      const rows = database.read(sql, (statement) => statement.all() as [number][]);
      await database.close();
      return rows.map(([id]) => id);
    },
    remove: async () => {},
  }),
  {
    'before the reservation': { reserved: false, inserted: false },
    'after the reservation': { reserved: true, inserted: false },
    'before the insertion is committed': { reserved: true, inserted: false },
    'after the insertion': { reserved: true, inserted: true },
    'before the response': { reserved: true, inserted: true },
  },
);

describe('on one MongoDB', () => {
  const settings = mongoSettings('exactly-once');
  exactlyOnceContract(
    'MongoDB',
    () => ({
      settings,
      processes: 2,
      reserved: () =>
        withDatabase(settings, async (database) => {
          const reservations = await database.collection('products_reservations').find().toArray();
          return reservations.map(({ id }) => id);
        }),
      remove: () => withDatabase(settings, async (database) => void (await database.dropDatabase())),
    }),
    {
      'before the reservation': { reserved: false, inserted: false },
      'after the reservation': { reserved: true, inserted: false },
      'after the insertion': { reserved: true, inserted: true },
      'before the response': { reserved: true, inserted: true },
    },
  );
});
