import Database from 'libsql';
import { Int32, MongoClient } from 'mongodb';
import pg from 'pg';

/** What a process of an earlier release does to a store, past the service. */
export interface EarlierRelease {
  /** Leaves all products and users as if that release had written them, with words of its own. */
  rewrite(): Promise<void>;
  /** @returns whether the store took a new product */
  insert(id: number, name: string): Promise<boolean>;
  close(): Promise<void>;
}

type Settings = Readonly<Record<string, string>>;

const KINDS: Readonly<Record<string, (settings: Settings) => Promise<EarlierRelease>>> = {
  sqlite: async ({ SQLITE_FILE = '' }) => {
    const database = new Database(SQLITE_FILE, { timeout: 60_000 });
    return {
      rewrite: async () => {
        database.exec(`UPDATE derived SET version = version - 1; DELETE FROM products_values;
          UPDATE products SET brand = NULL, "gtin folded" = NULL;
          INSERT INTO products_words (products_words) VALUES ('delete-all');
          INSERT INTO products_words (rowid, words) SELECT id, '10old' FROM products`);
      },
      insert: async (id, name) => {
        const statement = `INSERT INTO products (id, version, created_at, updated_at, fields) VALUES (?, 1, 1, 1, ?)`;
        try {
          database.prepare(statement).run(id, JSON.stringify({ name }));
          return true;
        } catch {
          return false;
        }
      },
      close: async () => void database.close(),
    };
  },
  postgresql: async ({ POSTGRESQL_URL: connectionString }) => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    return {
      rewrite: async () => {
        await client.query(`UPDATE products SET derived = derived - 1, words = '0.old', brand = NULL, "gtin folded" = NULL,
          attributes = NULL, "attributes document" = '{"stale": 1}'; UPDATE users SET derived = 0, words = ''`);
      },
      insert: async (id, name) => {
        await client.query(
          'INSERT INTO products (id, version, created_at, updated_at, fields, name) VALUES ($1, 1, 1, 1, $2, $3)',
          [id, JSON.stringify({ name }), name],
        );
        return true;
      },
      close: () => client.end(),
    };
  },
  mongodb: async ({ MONGODB_URL = '' }) => {
    const client = new MongoClient(MONGODB_URL);
    const products = client.db().collection<{ _id: number }>('products');
    return {
      rewrite: async () => {
        await products.updateMany({}, { $set: { words: ['old'] }, $unset: { derived: 1, block: 1, folded: 1 } });
        await client
          .db()
          .collection('users')
          .updateMany({}, { $unset: { derived: 1, block: 1, words: 1 } });
      },
      insert: async (_id, name) => {
        const at = new Date(1);
        const version = new Int32(1);
        const document = { _id, live: true, version, createdAt: at, updatedAt: at, fields: { name } };
        await products.insertOne(document);
        return true;
      },
      close: () => client.close(),
    };
  },
};

/** @param settings of a store that outlives its processes, STORE among them */
export async function earlierRelease(settings: Settings): Promise<EarlierRelease> {
  const connect = KINDS[settings['STORE'] ?? ''];
  if (!connect) throw new Error('An earlier release cannot use this store.');
  return connect(settings);
}
