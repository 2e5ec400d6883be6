import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { SqliteArchive } from '#src/adapters/outbound/sqlite/records/archive.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import {
  CopyError,
  copyRecords,
  type Progress,
  whileUnchanged,
} from '#src/application/maintenance/copy-archive.js';
import { recordRules } from '#src/application/maintenance/copy-rules.js';
import { StoredRecord } from '#src/application/records/record-json.js';
import type { Product } from '#src/domain/product.js';
import type { Versioned } from '#src/domain/record.js';
import { ENDLESS, PRODUCTS } from '../support/tables.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const AT = Date.UTC(2026, 0, 1);

describe('copyRecords', () => {
  const folder = temporaryFolder();
  let count = 0;
  let source: Side;
  let target: Side;

  class Side {
    private readonly database = new SqliteDatabase(join(folder, `${++count}.sqlite`));
    readonly products = new SqliteRepository<Product>(this.database, PRODUCTS, ENDLESS);
    readonly archive = new SqliteArchive(this.database, PRODUCTS);
    open = () => this.database.open();
    close = () => this.database.close();
    all = () => this.archive.read(0, 100_000);
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

  const record = (id: number, fields: Partial<Product> = {}, version = 1): Versioned<Product> => ({
    id,
    version,
    createdAt: AT + id,
    updatedAt: AT + id,
    fields: { name: `product ${id}`, sku: `s${id}`, ...fields },
  });
  const fillSource = async (records: number) => {
    await source.products.reserveIds(records);
    await source.archive.add(Array.from({ length: records }, (_, i) => record(i + 1)));
  };
  /** Tombstones of earlier deletions are expired. */
  const SINCE = AT - 1_000;
  const copy = (since = SINCE) => copyRecords(source.archive, target.archive, recordRules(since), () => {});
  const failure = (attempt: Promise<unknown>): Promise<string> =>
    attempt.then(
      () => 'none',
      (error: unknown) => {
        if (error instanceof CopyError) return error.message;
        throw error;
      },
    );

  it('copies records as its rules change them, and finds its own copy unchanged', async () => {
    await fillSource(2);
    await source.products.removeAll([{ id: 1, expected: 1, at: AT }]);
    const rules = recordRules(SINCE, (fields) => ({ ...(fields as Product), name: 'copied' }));
    const copyChanged = () => copyRecords(source.archive, target.archive, rules, () => {});
    expect((await copyChanged()).written).to.equal(2);
    expect(await target.all()).to.deep.equal([
      { id: 1, deletedAt: AT },
      { ...record(2), fields: { name: 'copied', sku: 's2' } },
    ]);
    expect((await source.all()).at(1)).to.deep.equal(record(2));
    expect((await copyChanged()).written).to.equal(0);
  });

  it('copies every record, every tombstone and the next id, and returns a checksum', async () => {
    await fillSource(1_203);
    for (const id of [1, 600, 1_203]) await source.products.removeAll([{ id, expected: 1, at: AT }]);
    const report = await copy();
    expect(report).to.deep.include({ name: 'products', written: 1_203 });
    expect(report.counts).to.deep.equal({ record: 1_200, tombstone: 3 });
    expect(report.checksum).to.match(/^[0-9a-f]{64}$/);
    expect(await target.all()).to.deep.equal(await source.all());
    expect(await target.products.reserveIds(1)).to.equal(1_204);
  });

  it('reports the progress of each step, with the total as soon as it is known', async () => {
    await fillSource(3);
    await copy();
    await source.products.replaceAll([{ record: record(2, { name: 'new' }, 2), expected: 1 }]);
    await source.products.insertAll([record(4)]);
    await source.products.removeAll([{ id: 3, expected: 1, at: AT }]);
    const steps: unknown[][] = [];
    await copyRecords(source.archive, target.archive, recordRules(SINCE), (...step) => steps.push(step));
    const { name } = source.archive;
    expect(steps.filter(([, step]) => step === 'comparing')).to.deep.equal(
      [1, 2, 3, 4].map((seen) => [name, 'comparing', seen]),
    );
    const copying = steps.filter(([, step]) => step === 'copying');
    expect(copying[0]).to.deep.equal([name, 'copying', 0, 3]);
    expect(copying.at(-1)).to.deep.equal([name, 'copying', 3, 3]);
    const verifying = steps
      .filter(([, step]) => step === 'verifying')
      .map(([, , seen, total]) => [seen, total]);
    expect(verifying).to.deep.equal([1, 2, 3, 4, 1, 2, 3, 4].map((seen) => [seen, 4]));
  });

  it('copies nothing from an empty store', async () => {
    const { counts, written } = await copy();
    expect([counts, written]).to.deep.equal([{ record: 0, tombstone: 0 }, 0]);
  });

  it('continues after an interrupted run, and writes nothing twice', async () => {
    await fillSource(2_700);
    const add = target.archive.add.bind(target.archive);
    let batches = 0;
    target.archive.add = async (entries) => {
      if (++batches === 3) throw new Error('the power went off');
      await add(entries);
    };
    let failed = false;
    await copy().catch(() => {
      failed = true;
    });
    expect(failed).to.equal(true);
    target.archive.add = add;
    expect((await copy()).written).to.equal(700);
    expect((await copy()).written).to.equal(0);
    expect(await target.all()).to.deep.equal(await source.all());
  });

  it('writes nothing again if the source returns its records as stored records', async () => {
    await fillSource(3);
    const read = source.archive.read.bind(source.archive);
    source.archive.read = async (after, limit) =>
      (await read(after, limit)).map((entry) => ('deletedAt' in entry ? entry : StoredRecord.of(entry)));
    expect((await copy()).written).to.equal(3);
    expect((await copy()).written).to.equal(0);
  });

  it('limits batches by their size in bytes', async () => {
    const MIB = 1024 * 1024;
    // "é" has two bytes: the limit counts bytes, not characters.
    const description = 'é'.repeat(MIB / 4);
    await source.archive.add(Array.from({ length: 12 }, (_, at) => record(at + 1, { description })));
    const add = target.archive.add.bind(target.archive);
    const sizes: number[] = [];
    target.archive.add = async (entries) => {
      sizes.push(Buffer.byteLength(JSON.stringify(entries)));
      await add(entries);
    };
    expect((await copy()).written).to.equal(12);
    expect(sizes.slice(0, -1).every((size) => size > 3 * MIB)).to.equal(true);
    expect(Math.max(...sizes)).to.be.within(3 * MIB, 6 * MIB);
    const [copied, original] = [await target.all(), await source.all()];
    expect(JSON.stringify(copied) === JSON.stringify(original)).to.equal(true);
  });

  it('copies later changes of the source, including unique values that moved to another record', async () => {
    await fillSource(4);
    await copy();
    await source.products.replaceAll([{ record: record(1, { sku: 's2' }, 2), expected: 1 }]);
    await source.products.removeAll([{ id: 2, expected: 1, at: AT }]);
    await source.products.replaceAll([{ record: record(1, { sku: 's2' }, 2), expected: 1 }]);
    await source.products.replaceAll([{ record: record(3, { name: 'new' }, 2), expected: 1 }]);
    await source.products.insertAll([record(9)]);
    expect((await copy()).written).to.equal(4);
    expect(await target.all()).to.deep.equal(await source.all());
  });

  it('rejects a target with foreign records, and leaves it unchanged', async () => {
    await fillSource(3);
    for (const other of [record(7), { ...record(2), createdAt: 5 }, { ...record(3), version: 9 }]) {
      await target.archive.add([other]);
      expect(await failure(copy())).to.include(`${other.id}, that is not of the source`);
      expect(await target.all()).to.deep.equal([other]);
      await target.archive.discard([other.id]);
    }
  });

  it('fails if the source changed during the copy', async () => {
    await fillSource(10);
    const add = target.archive.add.bind(target.archive);
    target.archive.add = async (entries) => {
      await source.products.removeAll([{ id: 5, expected: 1, at: AT }]);
      return add(entries);
    };
    expect(await failure(copy())).to.include('Did the source change meanwhile?');
  });

  it('fails if another table of the source changed after its copy was verified', async () => {
    const marked = (...marks: string[]) => ({ changeMark: async () => marks.shift() ?? 'none' });
    const copied = async () => 'copied';
    expect(await whileUnchanged([marked('a', 'a'), marked('b', 'b')], copied)).to.equal('copied');
    expect(await failure(whileUnchanged([marked('a', 'b'), marked('b', 'b')], copied))).to.equal(
      'The source changed meanwhile. Stop its service and run this again.',
    );
  });

  for (const [at, step] of ['comparing', 'copying', 'verifying'].entries())
    it(`lets the event loop turn while ${step}, also if no store waits for anything`, async () => {
      await fillSource(3);
      // Each step reads both sides once. In this one they have no end, and are alike.
      for (const { archive } of [source, target]) {
        const read = archive.read.bind(archive);
        let walks = 0;
        archive.read = async (after, limit) => {
          if (after === 0) walks++;
          if (walks !== at + 1) return read(after, limit);
          // Where the event loop never turns, not even the limit of a test ends it.
          if (after > 1_000_000) expect.fail('The event loop has not turned.');
          return Array.from({ length: limit }, (_, i) => record(after + i + 1));
        };
      }
      let turns: 'none' | 'awaited' | 'one' = 'none';
      const progress: Progress = (_name, current) => {
        if (current !== step) return;
        if (turns === 'none') {
          turns = 'awaited';
          setImmediate(() => {
            turns = 'one';
          });
        }
        if (turns === 'one') throw new CopyError(`stopped while ${step}`);
      };
      const attempt = copyRecords(source.archive, target.archive, recordRules(SINCE), progress);
      expect(await failure(attempt)).to.equal(`stopped while ${step}`);
    });

  for (const id of ['9007199254740992', '9007199254740993', '0', '-1', '-9007199254740993'])
    for (const side of ['source', 'target'] as const)
      it(`names the record with the id ${id} of the ${side}`, async () => {
        await fillSource(3);
        await (side === 'source' ? source : target).exec(
          `INSERT INTO products (id, record_version, created_at, updated_at, fields)
            VALUES (${id}, 1, 0, 0, '{"name":"x"}')`,
        );
        expect(await failure(copy())).to.equal(
          `The ${side} holds a record of products with the key ${id}, which is not a whole number from 1 to 9007199254740991.`,
        );
      });

  it('names a tombstone with such an id', async () => {
    await source.exec("INSERT INTO tombstones (resource, id, removed_at) VALUES ('products', 0, 0)");
    expect(await failure(copy())).to.include('with the key 0, which is not a whole number');
  });

  it('ends if a store returns ids that do not grow, or that no record may have', async () => {
    const page = (...ids: number[]) => {
      let pages = 0;
      source.archive.read = async () => {
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
    for (const side of [source, target]) {
      const read = side.archive.read.bind(side.archive);
      side.archive.read = async (...page) => (await read(...page)).filter(({ id }) => id !== 3);
    }
    expect(await failure(copy())).to.equal(
      'The source holds 5 entries of products, and 4 were read. ' +
        'Did it change meanwhile? Stop its service and run this again.',
    );
  });

  it('fails if the target lost or altered a record', async () => {
    await fillSource(10);
    const add = target.archive.add.bind(target.archive);
    target.archive.add = (entries) =>
      add(entries.map((one) => (one.id === 5 ? record(5, { description: 'altered' }) : one)));
    expect(await failure(copy())).to.include('is not like its source');
  });

  describe('with expired tombstones', () => {
    const PAST = SINCE - 1;
    const tombstone = (id: number, deletedAt: number) => ({ id, deletedAt });

    it('skips them, and copies the others', async () => {
      await source.archive.add([record(1), tombstone(2, PAST), tombstone(3, SINCE)]);
      const { counts, written } = await copy();
      expect([counts, written]).to.deep.equal([{ record: 1, tombstone: 1 }, 2]);
      expect(await target.all()).to.deep.equal([record(1), tombstone(3, SINCE)]);
    });

    it('accepts them on either side', async () => {
      await source.archive.add([tombstone(1, PAST), record(3)]);
      await target.archive.add([tombstone(2, PAST), record(3)]);
      expect((await copy()).counts).to.deep.equal({ record: 1, tombstone: 0 });
      expect(await target.all()).to.deep.equal([tombstone(2, PAST), record(3)]);
    });

    it('accepts that either side purges them during the copy', async () => {
      const both = [record(1), tombstone(2, PAST), record(3)];
      for (const purged of [source, target]) {
        for (const side of [source, target]) await side.archive.add(both);
        const read = target.archive.read.bind(target.archive);
        let reads = 0;
        target.archive.read = async (...page) => {
          // The third read of the target is in the last pass, after the source was read.
          if (++reads === 3) await purged.archive.discard([2]);
          return read(...page);
        };
        expect((await copy()).counts).to.deep.equal({ record: 2, tombstone: 0 });
        target.archive.read = read;
        for (const side of [source, target]) await side.archive.discard([1, 2, 3]);
      }
    });

    it('deletes the record if the target still has it', async () => {
      await source.archive.add([tombstone(1, PAST), record(2)]);
      await target.archive.add([record(1), record(2)]);
      await copy();
      expect(await target.all()).to.deep.equal([record(2)]);
    });

    it('does not restore a record that was deleted in the target', async () => {
      await source.archive.add([record(1)]);
      await target.archive.add([tombstone(1, PAST)]);
      expect(await failure(copy())).to.include('a tombstone of products, 1, that is not of the source');
      expect(await target.all()).to.deep.equal([tombstone(1, PAST)]);
    });

    it('rejects an unexpired tombstone that only the target has', async () => {
      await target.archive.add([tombstone(1, SINCE)]);
      expect(await failure(copy())).to.include('a tombstone of products, 1, that is not of the source');
    });

    it('copies all of them if tombstones never expire', async () => {
      await source.archive.add([tombstone(1, 0), tombstone(2, PAST)]);
      expect((await copy(Number.NEGATIVE_INFINITY)).counts).to.deep.equal({ record: 0, tombstone: 2 });
      expect(await target.all()).to.deep.equal([tombstone(1, 0), tombstone(2, PAST)]);
      await source.archive.discard([1]);
      expect(await failure(copy(Number.NEGATIVE_INFINITY))).to.include('that is not of the source');
    });
  });
});
