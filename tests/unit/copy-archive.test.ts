import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteArchive } from '#src/adapters/outbound/sqlite/sqlite-archive.js';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/sqlite-database.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/sqlite-repository.js';
import { CopyError, copyArchive } from '#src/application/copy-archive.js';
import type { Product } from '#src/domain/product.js';
import type { Versioned } from '#src/domain/record.js';
import { ENDLESS, PRODUCTS } from '../support/tables.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const AT = Date.UTC(2026, 0, 1);

describe('copying an archive', () => {
  const folder = temporaryFolder();
  let made = 0;
  let source: Side;
  let target: Side;

  class Side {
    private readonly database = new SqliteDatabase(join(folder, `${++made}.sqlite`));
    readonly products = new SqliteRepository<Product>(this.database, PRODUCTS, ENDLESS);
    readonly archive = new SqliteArchive(this.database, PRODUCTS);
    open = () => this.database.open();
    close = () => this.database.close();
    all = () => this.archive.read(0, 100_000);
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
  const fill = async (count: number) => {
    await source.products.reserveIds(count);
    await source.archive.add(Array.from({ length: count }, (_, i) => record(i + 1)));
  };
  const copy = (onEntry: () => void = () => {}) => copyArchive(source.archive, target.archive, onEntry);
  const failure = (attempt: Promise<unknown>): Promise<string> =>
    attempt.then(
      () => 'none',
      (error: unknown) => {
        if (error instanceof CopyError) return error.message;
        throw error;
      },
    );

  it('brings every record, tombstone and the next id, and proves it', async () => {
    await fill(1_203);
    for (const id of [1, 600, 1_203]) await source.products.remove(id, 1, AT);
    const report = await copy();
    expect(report).to.deep.include({ name: 'products', records: 1_200, tombstones: 3, written: 1_203 });
    expect(report.checksum).to.match(/^[0-9a-f]{64}$/);
    expect(await target.all()).to.deep.equal(await source.all());
    expect(await target.products.reserveIds(1)).to.equal(1_204);
  });

  it('copies nothing at all from an empty store', async () => {
    expect(await copy()).to.deep.include({ records: 0, tombstones: 0, written: 0 });
  });

  it('goes on where an earlier run was stopped, and writes nothing twice', async () => {
    await fill(2_700);
    const add = target.archive.add.bind(target.archive);
    let batches = 0;
    target.archive.add = async (entries) => {
      if (++batches === 3) throw new Error('the power went off');
      await add(entries);
    };
    let broke = false;
    await copy().catch(() => {
      broke = true;
    });
    expect(broke).to.equal(true);
    target.archive.add = add;
    expect((await copy()).written).to.equal(700);
    expect((await copy()).written).to.equal(0);
    expect(await target.all()).to.deep.equal(await source.all());
  });

  it('takes over what changed in the source since, unique values that moved too', async () => {
    await fill(4);
    await copy();
    await source.products.replace(record(1, { sku: 's2' }, 2), 1).catch(() => {});
    await source.products.remove(2, 1, AT);
    await source.products.replace(record(1, { sku: 's2' }, 2), 1);
    await source.products.replace(record(3, { name: 'new' }, 2), 1);
    await source.products.insert(record(9));
    expect((await copy()).written).to.equal(4);
    expect(await target.all()).to.deep.equal(await source.all());
  });

  it('touches nothing in a target that holds another catalogue', async () => {
    await fill(3);
    for (const other of [record(7), { ...record(2), createdAt: 5 }, { ...record(3), version: 9 }]) {
      await target.archive.add([other]);
      expect(await failure(copy())).to.include(`${other.id}, that is not of the source`);
      expect(await target.all()).to.deep.equal([other]);
      await target.archive.discard([other.id]);
    }
  });

  it('says so when the source changed meanwhile', async () => {
    await fill(10);
    const next = source.archive.nextId.bind(source.archive);
    source.archive.nextId = async () => {
      await source.products.remove(5, 1, AT);
      return next();
    };
    expect(await failure(copy())).to.include('Did the source change meanwhile?');
  });

  it('sees a target that lost or altered something', async () => {
    await fill(10);
    const raise = target.archive.raiseNextId.bind(target.archive);
    target.archive.raiseNextId = async (next) => {
      await target.archive.discard([5]);
      await target.archive.add([record(5, { description: 'altered' })]);
      await raise(next);
    };
    expect(await failure(copy())).to.include('is not like its source');
  });
});
