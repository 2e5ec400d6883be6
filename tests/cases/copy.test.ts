import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { SqliteArchive } from '#src/adapters/outbound/sqlite/records/archive.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import { SqliteReservations } from '#src/adapters/outbound/sqlite/records/small-tables.js';
import {
  ArchiveCopy,
  CopyError,
  copyArchives,
  type Progress,
  recordRules,
  reservationRules,
} from '#src/application/maintenance/copy.js';
import { RESERVATION_MS } from '#src/application/maintenance/retention.js';
import type { Reservation } from '#src/application/ports/idempotency-store.js';
import { StoredRecord } from '#src/application/records/record-json.js';
import type { Product } from '#src/domain/product.js';
import type { Versioned } from '#src/domain/record.js';
import { ENDLESS, PRODUCTS } from '../support/tables.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const AT = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;

describe('a copy', () => {
  const folder = temporaryFolder();
  let count = 0;
  let source: Side;
  let target: Side;

  class Side {
    private readonly database = new SqliteDatabase(join(folder, `${++count}.sqlite`));
    readonly products = new SqliteRepository<Product>(this.database, PRODUCTS, ENDLESS);
    readonly records = new SqliteArchive(this.database, PRODUCTS);
    readonly reservations = new SqliteReservations(this.database, PRODUCTS);
    open = () => this.database.open();
    close = () => this.database.close();
    all = () => this.records.read(0, 100_000);
    exec = (sql: string) => this.database.write((statement) => void statement(sql).run());
  }

  beforeEach(async () => {
    [source, target] = [new Side(), new Side()];
    await source.open();
    await target.open();
  });
  afterEach(async () => {
    await source.close();
    await target.close();
  });

  const failure = (attempt: Promise<unknown>): Promise<string> =>
    attempt.then(
      () => 'none',
      (error: unknown) => {
        if (error instanceof CopyError) return error.message;
        throw error;
      },
    );

  describe('of records', () => {
    const record = (id: number, fields: Partial<Product> = {}, version = 1): Versioned<Product> => ({
      id,
      version,
      createdAt: AT + id,
      updatedAt: AT + id,
      fields: { name: `product ${id}`, sku: `s${id}`, ...fields },
    });
    const fillSource = async (records: number) => {
      await source.products.reserveIds(records);
      await source.records.add(Array.from({ length: records }, (_, i) => record(i + 1)));
    };
    /** Tombstones of earlier deletions are expired. */
    const SINCE = AT - 1_000;
    const copy = (rules = recordRules(SINCE), progress: Progress = () => {}) =>
      new ArchiveCopy(source.records, target.records, rules, progress).make();

    it('has them as its rules change them', async () => {
      await fillSource(2);
      await source.products.removeAll([{ id: 1, expected: 1, at: AT }]);
      const rules = recordRules(SINCE, (fields) => ({ ...(fields as Product), name: 'copied' }));
      const { checksum, ...report } = await copy(rules);
      expect(report).to.deep.equal({ name: 'products', counts: { record: 1, tombstone: 1 }, written: 2 });
      expect(checksum).to.match(/^[0-9a-f]{64}$/);
      const copied = { ...record(2), fields: { name: 'copied', sku: 's2' } };
      expect(await target.all()).to.deep.equal([{ id: 1, deletedAt: AT }, copied]);
      expect((await source.all()).at(1)).to.deep.equal(record(2));
    });

    it('reports the progress of each step, with the total', async () => {
      await fillSource(3);
      await source.products.removeAll([{ id: 3, expected: 1, at: AT }]);
      const steps: unknown[][] = [];
      await copy(recordRules(SINCE), (...step) => steps.push(step));
      const of = (step: string) => steps.filter(([, name]) => name === step).map((one) => one.slice(2));
      expect(of('copying')).to.deep.equal([0, 0, 0, 3].map((seen) => [seen, 3]));
      expect(of('verifying')).to.deep.equal([1, 2, 3, 1, 2, 3].map((seen) => [seen, 3]));
    });

    it('has them as the source stores them, if it returns them as stored records', async () => {
      await fillSource(3);
      const read = source.records.read.bind(source.records);
      source.records.read = async (after, limit) =>
        (await read(after, limit)).map((entry) => ('deletedAt' in entry ? entry : StoredRecord.of(entry)));
      expect((await copy()).written).to.equal(3);
    });

    it('limits batches by their size in bytes', async () => {
      const MIB = 1024 * 1024;
      // "é" has two bytes: the limit counts bytes, not characters.
      const description = 'é'.repeat(MIB / 4);
      await source.records.add(Array.from({ length: 12 }, (_, at) => record(at + 1, { description })));
      const add = target.records.add.bind(target.records);
      const sizes: number[] = [];
      target.records.add = async (entries) => {
        sizes.push(Buffer.byteLength(JSON.stringify(entries)));
        await add(entries);
      };
      expect((await copy()).written).to.equal(12);
      expect(sizes.slice(0, -1).every((size) => size > 3 * MIB)).to.equal(true);
      expect(Math.max(...sizes)).to.be.within(3 * MIB, 6 * MIB);
      const [copied, original] = [await target.all(), await source.all()];
      expect(JSON.stringify(copied) === JSON.stringify(original)).to.equal(true);
    });

    it('fails if the source changed meanwhile', async () => {
      await fillSource(10);
      const add = target.records.add.bind(target.records);
      target.records.add = async (entries) => {
        await source.products.removeAll([{ id: 5, expected: 1, at: AT }]);
        return add(entries);
      };
      expect(await failure(copy())).to.include('Did the source change meanwhile?');
    });

    it('fails if another table of the source changed after its copy was verified', async () => {
      const marked = (...marks: string[]) =>
        Object.assign(Object.create(source.records), { changeMark: async () => marks.shift() ?? 'none' });
      const copied = (...records: (typeof source.records)[]) =>
        copyArchives(
          { records, reservations: [] },
          { records: [target.records], reservations: [] },
          { expiring: [], copiedFields: {} },
          { now: () => AT },
          () => {},
        );
      expect(await failure(copied(marked('a', 'a'), marked('b', 'b')))).to.equal('none');
      expect(await failure(copied(marked('a', 'b'), marked('b', 'b')))).to.equal(
        'The source changed meanwhile. Stop its service.',
      );
    });

    for (const [at, step] of ['copying', 'verifying'].entries())
      it(`lets the event loop turn while ${step}, also if no store waits for anything`, async () => {
        await fillSource(3);
        // Each step reads the source once. In this one it has no end.
        const read = source.records.read.bind(source.records);
        let walks = 0;
        source.records.read = async (after, limit) => {
          if (after < 0) walks++;
          if (walks !== at + 1) return read(after, limit);
          // Where the event loop never turns, not even the limit of a test ends it.
          if (after > 1_000_000) expect.fail('The event loop has not turned.');
          return Array.from({ length: limit }, (_, i) => record(Math.max(0, after) + i + 1));
        };
        target.records.add = async () => {};
        let turns: 'none' | 'awaited' | 'one' = 'none';
        const progress: Progress = (_name, current) => {
          if (current !== step) return;
          if (turns === 'none') {
            turns = 'awaited';
            setImmediate(() => (turns = 'one'));
          }
          if (turns === 'one') throw new CopyError(`stopped while ${step}`);
        };
        expect(await failure(copy(recordRules(SINCE), progress))).to.equal(`stopped while ${step}`);
      });

    for (const id of ['9007199254740992', '0', '-1'])
      it(`names the record with the id ${id}`, async () => {
        await fillSource(3);
        await source.exec(
          `INSERT INTO products (id, record_version, created_at, updated_at, fields)
            VALUES (${id}, 1, 0, 0, '{"name":"x"}')`,
        );
        expect(await failure(copy())).to.equal(
          `The source holds a record of products with the key ${id}, which is not a whole number from 1 to 9007199254740991.`,
        );
      });

    it('names a tombstone with such an id', async () => {
      await source.exec("INSERT INTO tombstones (resource, id, removed_at) VALUES ('products', 0, 0)");
      expect(await failure(copy())).to.include('a tombstone of products with the key 0, which is not');
    });

    it('ends if a store returns ids that do not grow, or that no record may have', async () => {
      const page = (...ids: number[]) => {
        let pages = 0;
        source.records.read = async () => {
          if (++pages > 10) expect.fail('The walk does not end.');
          return ids.map((id) => record(id));
        };
      };
      page(1, 2, 2);
      expect(await failure(copy())).to.equal('The source returns the products out of order: 2 behind 2.');
      page(3);
      expect(await failure(copy())).to.equal('The source returns the products out of order: 3 behind 3.');
      page(2 ** 53);
      expect(await failure(copy())).to.include('with the key 9007199254740992, which is not');
    });

    it('fails if the walk misses entries on both sides', async () => {
      await fillSource(5);
      for (const { records } of [source, target]) {
        const read = records.read.bind(records);
        records.read = async (...page) => (await read(...page)).filter(({ id }) => id !== 3);
      }
      expect(await failure(copy())).to.equal(
        'The source holds 5 records, 0 tombstones of products, and 4 records, 0 tombstones were read. ' +
          'Did it change meanwhile? Stop its service.',
      );
    });

    it('fails if the target lost or altered a record', async () => {
      await fillSource(10);
      const add = target.records.add.bind(target.records);
      target.records.add = (entries) =>
        add(entries.map((one) => (one.id === 5 ? record(5, { description: 'altered' }) : one)));
      expect(await failure(copy())).to.include('is not like its source');
    });

    describe('with expired tombstones', () => {
      const PAST = SINCE - 1;
      const tombstone = (id: number, deletedAt: number) => ({ id, deletedAt });

      it('leaves them out, and has the others', async () => {
        await source.records.add([record(1), tombstone(2, PAST), tombstone(3, SINCE)]);
        const { counts, written } = await copy();
        expect([counts, written]).to.deep.equal([{ record: 1, tombstone: 1 }, 2]);
        expect(await target.all()).to.deep.equal([record(1), tombstone(3, SINCE)]);
      });

      it('accepts that the source purges them meanwhile', async () => {
        await source.records.add([record(1), tombstone(2, PAST), record(3)]);
        const add = target.records.add.bind(target.records);
        target.records.add = async (entries) => {
          await source.records.discard([2]);
          return add(entries);
        };
        expect((await copy()).counts).to.deep.equal({ record: 2, tombstone: 0 });
      });
    });
  });

  describe('of reservations', () => {
    const NOW = AT;
    /** The oldest time of a reservation that is still valid at NOW. */
    const OLDEST = NOW - 24 * HOUR_MS;
    const reservation = (key: string, more: Partial<Reservation> = {}): Reservation => ({
      key,
      fingerprint: 'f',
      id: 1,
      reservedAt: NOW,
      ...more,
    });
    const copy = () =>
      new ArchiveCopy(source.reservations, target.reservations, reservationRules(NOW), () => {}).make();

    it('leaves out expired ones, and has the oldest valid one an hour before the source purges it', async () => {
      const oldest = reservation('a', { reservedAt: OLDEST });
      await source.reservations.add([oldest, reservation('b', { reservedAt: OLDEST - 1 })]);
      const { counts, written } = await copy();
      expect([counts, written]).to.deep.equal([{ reservation: 1 }, 1]);
      expect(await target.reservations.read('', 10)).to.deep.equal([oldest]);
      expect(OLDEST - (NOW - RESERVATION_MS), 'milliseconds').to.be.at.least(HOUR_MS);
    });

    it('fails if the target lost one', async () => {
      await source.reservations.add([reservation('a'), reservation('b')]);
      const add = target.reservations.add.bind(target.reservations);
      target.reservations.add = (all) => add(all.slice(1));
      expect(await failure(copy())).to.include('2 reservations against 1 reservations');
    });

    it('fails if the source has one without a key, which no walk meets', async () => {
      await source.reservations.add([reservation('')]);
      expect(await failure(copy())).to.include('holds 1 reservations of products, and 0 reservations were read');
    });
  });
});
