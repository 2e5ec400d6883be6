import { expect } from 'chai';
import pg from 'pg';
import type { ChangeFeed, FeedPosition } from '#src/application/ports/change-feed.js';
import type { Product } from '#src/domain/product.js';
import { next, product } from '../contract/repository/records.js';
import { type OpenStore, openStore } from '../stores/provider.js';
import { deriveAll } from '../support/derive-all.js';
import { HAS_POSTGRESQL, PostgresqlServer, patient, sharedPostgresql } from '../support/postgresql-server.js';
import { until } from '../support/until.js';

const PAGE = 100;

/** The versions behind a place, by id: of a deletion with a minus. */
async function changesAfter(
  feed: ChangeFeed<Product>,
  after: FeedPosition,
): Promise<Record<number, number> | 'expired'> {
  const page = await feed.read(after, PAGE);
  if (!page) return 'expired';
  return Object.fromEntries(page.changes.map((one) => [one.id, 'deleted' in one ? -one.version : one.version]));
}

const settingsOf = (url: string) => ({ STORE: 'postgresql', POSTGRESQL_URL: patient(url) });

if (HAS_POSTGRESQL) {
  describe('the feed of PostgreSQL', () => {
    let server: PostgresqlServer;
    let url: string;
    let store: OpenStore;
    const others: pg.Client[] = [];
    const feed = () => store.changes.products;
    const sql = async (text: string) => (await server.query(text, url)).rows;
    const insert = (...ids: number[]) => store.products.insertAll(ids.map((id) => product(id)));
    /** A connection of another program, in a transaction. */
    const begun = async (text: string) => {
      const client = new pg.Client({ connectionString: url });
      others.push(client);
      await client.connect();
      await client.query(`BEGIN; ${text}`);
      return client;
    };

    beforeEach(async () => {
      server = await sharedPostgresql();
      url = await server.createSchema();
      store = await openStore(settingsOf(url));
      await store.feedState.turnOn();
    });
    afterEach(async () => {
      for (const client of others.splice(0)) await client.end();
      await store.close();
      await server.dropSchema(url);
    });

    it('shows a change only when each transaction that began to write earlier has ended, and then all', async () => {
      await insert(1, 2, 3);
      const place = await feed().end();
      const early = await begun('UPDATE products SET version = 2 WHERE id = 1');
      await store.products.replaceAll([{ expected: 1, record: next(product(2), {}) }]);
      expect(await changesAfter(feed(), place)).to.deep.equal({});
      const later = await feed().end();
      await early.query('COMMIT');
      expect(await changesAfter(feed(), place)).to.deep.equal({ 1: 2, 2: 2 });
      expect(await changesAfter(feed(), later)).to.deep.equal({ 1: 2, 2: 2 });
    });

    it('waits for writers of other databases, but not for readers', async () => {
      const place = await feed().end();
      const reader = await begun('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT * FROM products');
      await insert(1);
      expect(await changesAfter(feed(), place)).to.deep.equal({ 1: 1 });
      await reader.query('COMMIT');
      const other = new pg.Client({ connectionString: server.url().replace(/postgres$/, 'template1') });
      others.push(other);
      await other.connect();
      await other.query('BEGIN; SELECT pg_current_xact_id()');
      await insert(2);
      expect(await changesAfter(feed(), place)).to.deep.equal({ 1: 1 });
      await other.query('ROLLBACK');
      expect(await changesAfter(feed(), place)).to.deep.equal({ 1: 1, 2: 1 });
    });

    it('has a moment of the oldest change that is not shown', async () => {
      expect(await store.feedState.oldestHidden?.()).to.equal(undefined);
      const early = await begun('SELECT pg_current_xact_id()');
      await insert(1);
      expect(await store.feedState.oldestHidden?.()).to.equal(product(1).updatedAt);
      await early.query('COMMIT');
      expect(await store.feedState.oldestHidden?.()).to.equal(undefined);
    });

    it('has the changes that SQL makes, as a process of an earlier release does', async () => {
      await insert(1, 2, 3);
      const place = await feed().end();
      await sql(`UPDATE products SET version = 2 WHERE id = 1;
        UPDATE products SET deleted_at = 5, version = NULL, created_at = NULL, updated_at = NULL, fields = NULL WHERE id = 2`);
      expect(await changesAfter(feed(), place)).to.deep.equal({ 1: 2, 2: -2 });
    });

    it('expires the places before a tombstone that an earlier release, or a person, deletes', async () => {
      await insert(1, 2);
      const place = await feed().end();
      await store.products.removeAll([{ id: 1, expected: 1, at: 5 }]);
      const later = await feed().end();
      await store.products.removeAll([{ id: 2, expected: 1, at: 6 }]);
      const newest = await feed().end();
      await sql('DELETE FROM products WHERE deleted_at < 6');
      expect(await changesAfter(feed(), place)).to.equal('expired');
      expect(await changesAfter(feed(), later)).to.deep.equal({ 2: -2 });
      await sql('DELETE FROM products WHERE deleted_at = 6');
      expect(await changesAfter(feed(), later)).to.equal('expired');
      expect(await changesAfter(feed(), newest)).to.deep.equal({});
    });

    it('expires if a person deletes records, whatever the search path', async () => {
      const [, schema] = /search_path%3D(\w+)/.exec(url) ?? [];
      const users = await store.changes.users.end();
      for (const deletion of ['DELETE FROM', 'TRUNCATE']) {
        await insert(1, 2);
        const place = await feed().end();
        await server.query(`${deletion} ${schema}.products`);
        expect(await changesAfter(feed(), place), deletion).to.equal('expired');
      }
      expect((await store.changes.users.read(users, PAGE))?.changes).to.deep.equal([]);
    });

    it('has no change when derived columns are made again', async () => {
      await insert(1);
      await sql('UPDATE products SET derived = 1');
      const place = await feed().end();
      expect(await deriveAll(store)).to.equal(1);
      expect(await sql('SELECT derived > 1 AS "isNew" FROM products')).to.deep.equal([{ isNew: true }]);
      expect(await changesAfter(feed(), place)).to.deep.equal({});
    });

    it('is not written while it is off, by no process, and places from before are expired', async () => {
      await insert(1, 2);
      const place = await feed().end();
      const second = await openStore(settingsOf(url));
      await second.feedState.turnOff();
      expect(await changesAfter(feed(), place)).to.equal('expired');
      await insert(3);
      await store.products.removeAll([{ id: 2, expected: 1, at: 5 }]);
      expect(await sql('SELECT id::int FROM products WHERE change IS NULL')).to.deep.equal([{ id: 3 }]);
      await second.feedState.turnOff();
      await store.feedState.turnOn();
      expect(await changesAfter(feed(), place)).to.equal('expired');
      const again = await feed().end();
      await second.feedState.turnOn();
      await second.close();
      await insert(4);
      expect(await changesAfter(feed(), again)).to.deep.equal({ 4: 1 });
    });

    it('is turned on when the writes in progress have ended, and has every later one', async () => {
      await store.feedState.turnOff();
      await insert(1, 2);
      const early = await begun('UPDATE products SET version = 2 WHERE id = 1');
      const on = store.feedState.turnOn();
      const isWaiting = `SELECT 1 FROM pg_locks WHERE relation = 'products'::regclass AND NOT granted`;
      await until('the table waits', async () => (await sql(isWaiting)).length > 0);
      const written = store.products.replaceAll([{ expected: 1, record: next(product(2), {}) }]);
      await until('the write waits behind it', async () => (await sql(isWaiting)).length > 1);
      await early.query('COMMIT');
      await Promise.all([on, written]);
      const rows = await sql('SELECT id::int, change IS NULL AS "isOld" FROM products ORDER BY id');
      expect(rows).to.deep.equal([
        { id: 1, isOld: true },
        { id: 2, isOld: false },
      ]);
    });

    it('ignores the numbers of another server in a restored dump', async () => {
      await insert(1);
      await sql(`UPDATE products SET change = '9999999999';
        INSERT INTO products (id, deleted_at, deleted_version, change) VALUES (2, 5, 3, NULL);
        UPDATE products SET change = '9999999999' WHERE id = 2`);
      const place = await feed().end();
      expect(place).to.match(/-0-0$/);
      const tombstones = store.purgeable.filter(({ retentionMs }) => retentionMs > 0);
      for (const purgeable of tombstones) await purgeable.purgeBefore(Number.MAX_SAFE_INTEGER, 10);
      expect(await sql('SELECT count(*)::int FROM products')).to.deep.equal([{ count: 1 }]);
      await insert(3);
      expect(await changesAfter(feed(), place)).to.deep.equal({ 3: 1 });
      expect(await store.feedState.oldestHidden?.()).to.equal(undefined);
    });

    it('expires with other tables, and in another database', async () => {
      const place = await feed().end();
      await sql('CREATE TABLE dump AS TABLE feeds; DROP TABLE feeds; ALTER TABLE dump RENAME TO feeds');
      expect(await changesAfter(feed(), place)).to.equal('expired');
      expect(await changesAfter(feed(), await feed().end())).to.deep.equal({});
    });

    it('has a generation also where the server forbids to ask for its identity', async () => {
      const [, schema] = /search_path%3D(\w+)/.exec(url) ?? [];
      await sql(`CREATE FUNCTION pg_control_system(OUT system_identifier bigint) LANGUAGE plpgsql AS
        'BEGIN RAISE insufficient_privilege; END'`);
      await sql(`ALTER FUNCTION generation_place() SET search_path = ${schema}, pg_catalog`);
      const first = await store.feedState.generation();
      expect([first?.length, await store.feedState.generation()]).to.deep.equal([10, first]);
    });

    it('is of another generation with other tables, each time', async () => {
      expect(await store.feedState.generation()).to.equal(undefined);
      const seen = new Set<string | undefined>();
      for (let i = 0; i < 2; i++) {
        await sql(
          'CREATE TABLE dump (LIKE generation INCLUDING ALL); INSERT INTO dump SELECT * FROM generation; DROP TABLE generation; ALTER TABLE dump RENAME TO generation',
        );
        seen.add(await store.feedState.generation());
        expect([...seen].at(-1)).to.match(/^[0-9a-f]{10}$/);
      }
      await store.feedState.reset();
      expect(seen.add(await store.feedState.generation()).size).to.equal(3);
    });

    it('needs no more than a role that owns its tables', async () => {
      const [, schema] = /search_path%3D(\w+)/.exec(url) ?? [];
      await sql(`CREATE ROLE plain LOGIN; CREATE SCHEMA plain AUTHORIZATION plain`);
      const plainUrl = url.replace(`${schema}`, 'plain').replace('//postgres', '//plain');
      const plain = await openStore(settingsOf(plainUrl));
      try {
        await plain.feedState.turnOn();
        const place = await plain.changes.products.end();
        await plain.products.insertAll([product(1)]);
        expect(await changesAfter(plain.changes.products, place)).to.deep.equal({ 1: 1 });
        await plain.feedState.reset();
        expect(await changesAfter(plain.changes.products, place)).to.equal('expired');
        expect(await plain.feedState.oldestHidden?.()).to.equal(undefined);
        await plain.feedState.turnOff();
      } finally {
        await plain.close();
        await sql('DROP OWNED BY plain; DROP ROLE plain');
      }
    });
  });

  describe('the feed of a PostgreSQL server', () => {
    const servers: PostgresqlServer[] = [];
    const stores: OpenStore[] = [];
    const started = async () => {
      const server = await PostgresqlServer.start({ mayBeCopied: false });
      servers.push(server);
      return server;
    };
    const opened = async (server: PostgresqlServer) => {
      const store = await openStore(settingsOf(server.url()));
      stores.push(store);
      return store;
    };
    afterEach(async () => {
      for (const store of stores.splice(0)) await store.close();
      for (const server of servers.splice(0)) await server.kill();
    });

    it('misses nothing if a crash makes the server give numbers of transactions again', async () => {
      const server = await started();
      const { products, changes, feedState } = await opened(server);
      await feedState.turnOn();
      await products.insertAll([product(1)]);
      // Those that would write the journal meanwhile.
      const writers =
        "SELECT pid FROM pg_stat_activity WHERE backend_type IN ('walwriter', 'background writer', 'checkpointer')";
      for (const { pid } of (await server.query(writers)).rows) process.kill(pid, 'SIGSTOP');
      for (let lost = 0; lost < 20; lost++) await server.query('BEGIN; SELECT pg_current_xact_id(); ROLLBACK');
      const { next: place } = (await changes.products.read(await changes.products.end(), PAGE)) ?? { next: '' };
      const highest = async () => Number((await server.query('SELECT pg_current_xact_id() AS id')).rows[0].id);
      const before = await highest();
      await server.kill();
      await server.run();
      await until('the store has recovered', () => products.insertAll([product(2)]));
      expect(await highest(), 'a number is given again').to.be.lessThan(before);
      while ((await highest()) <= before);
      expect(await changesAfter(changes.products, place)).to.deep.equal({ 2: 1 });
    });

    it('expires on another server, and after a standby has taken its place', async () => {
      const [first, second] = [await started(), await started()];
      const [one, other] = [await opened(first), await opened(second)];
      await one.feedState.turnOn();
      await other.feedState.turnOn();
      const place = await one.changes.products.end();
      const identity =
        'SELECT tableoid, name, epoch, (SELECT oid FROM pg_database WHERE datname = current_database()) FROM feeds ORDER BY name';
      const { rows } = await first.query(identity);
      await second.query(
        rows.map(({ name, epoch }) => `UPDATE feeds SET epoch = '${epoch}' WHERE name = '${name}'`).join(';'),
      );
      expect((await second.query(identity)).rows).to.deep.equal(rows);
      expect(await changesAfter(other.changes.products, place)).to.equal('expired');
      const generations = () => Promise.all([one, other].map(({ feedState }) => feedState.generation()));
      expect(await generations()).to.deep.equal([undefined, undefined]);
      const { rows: restored } = await first.query('SELECT epoch, origin FROM generation');
      const { epoch, origin } = restored[0];
      await second.query(`UPDATE generation SET epoch = '${epoch}', origin = '${origin}'`);
      const [none, ofRestored] = await generations();
      expect([none, ofRestored?.length]).to.deep.equal([undefined, 10]);

      expect(await changesAfter(one.changes.products, place)).to.deep.equal({});
      await first.stop();
      first.write('data/standby.signal', '');
      await first.run();
      await until('the standby responds', async () => (await first.query('SELECT pg_is_in_recovery()')).rows);
      const ended = one.changes.products.end().then(() => 'ok');
      const code = await ended.catch((error) => error.code);
      expect(code).to.equal('unavailable');
      expect(await one.feedState.generation(), 'of a standby').to.equal(undefined);
      await first.query('SELECT pg_promote()');
      await until('it is a primary', () => one.products.insertAll([product(1)]));
      expect(await changesAfter(one.changes.products, place)).to.equal('expired');
      const [ofPromoted] = await generations();
      expect([ofPromoted?.length, ofPromoted === ofRestored]).to.deep.equal([10, false]);
    });
  });
}
