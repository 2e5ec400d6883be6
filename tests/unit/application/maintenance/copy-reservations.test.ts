import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteReservationArchive } from '#src/adapters/outbound/sqlite/archive.js';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/database.js';
import { ArchiveCopy, CopyError } from '#src/application/maintenance/copy-archive.js';
import { reservationRules } from '#src/application/maintenance/copy-rules.js';
import { RESERVATION_MS } from '#src/application/maintenance/retention.js';
import type { Reservation } from '#src/application/ports/idempotency-store.js';
import { PRODUCTS } from '../../../support/tables.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const NOW = Date.UTC(2026, 0, 10);
const HOUR_MS = 3_600_000;
/** Promised for this moment still, and for no other after it. */
const OLDEST = NOW - 24 * HOUR_MS;
const PAST = OLDEST - 1;

describe('copying reservations', () => {
  const folder = temporaryFolder();
  let made = 0;
  let source: Side;
  let target: Side;

  class Side {
    private readonly database = new SqliteDatabase(join(folder, `reservations-${++made}.sqlite`));
    readonly archive = new SqliteReservationArchive(this.database, PRODUCTS);
    open = () => this.database.open();
    close = () => this.database.close();
    all = () => this.archive.read('', 100_000);
    add = (...all: Reservation[]) => this.archive.add(all);
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

  const reservation = (key: string, more: Partial<Reservation> = {}): Reservation => ({
    key,
    fingerprint: 'f',
    id: 1,
    reservedAt: NOW,
    ...more,
  });
  const copy = (now = NOW) =>
    new ArchiveCopy(source.archive, target.archive, reservationRules(now), () => {}).make();
  const failure = async (attempt: Promise<unknown>): Promise<string> => {
    const error = await attempt.catch((error: unknown) => error);
    expect(error).to.be.instanceOf(CopyError);
    return (error as CopyError).message;
  };

  it('brings every one that is promised, and proves it', async () => {
    const all = Array.from({ length: 2_345 }, (_, i) =>
      reservation(`${i}/k`, { id: i + 1, ...(i % 2 && { fields: `{"é":${i}}` }) }),
    );
    await source.add(...all);
    const report = await copy();
    expect(report).to.deep.include({ name: 'products', counts: { reservation: 2_345 }, written: 2_345 });
    expect(report.checksum).to.match(/^[0-9a-f]{64}$/);
    expect(await target.all()).to.deep.equal(await source.all());
    expect((await copy()).written).to.equal(0);
  });

  it('goes on where an earlier run was stopped', async () => {
    const all = Array.from({ length: 10 }, (_, i) => reservation(`k${i}`));
    await source.add(...all);
    await target.add(...all.slice(3, 6));
    expect((await copy()).written).to.equal(7);
    expect(await target.all()).to.deep.equal(all);
  });

  it('leaves those that are promised no more, and takes the oldest that is', async () => {
    await source.add(reservation('a', { reservedAt: OLDEST }), reservation('b', { reservedAt: PAST }));
    const { counts, written } = await copy();
    expect([counts, written]).to.deep.equal([{ reservation: 1 }, 1]);
    expect(await target.all()).to.deep.equal([reservation('a', { reservedAt: OLDEST })]);
  });

  it('minds none that an earlier run brought and the source has let go of since', async () => {
    await target.add(reservation('a', { reservedAt: PAST }));
    await source.add(reservation('b'));
    expect((await copy()).counts).to.deep.equal({ reservation: 1 });
    expect(await target.all()).to.have.length(2);
  });

  it('has time until what it copies is let go of', async () => {
    await source.add(reservation('a', { reservedAt: OLDEST }));
    await copy();
    expect(OLDEST - (NOW - RESERVATION_MS), 'milliseconds').to.be.at.least(HOUR_MS);
  });

  it('takes the new one where a key grew old, was let go of, and was used anew', async () => {
    await target.add(reservation('a', { id: 1, reservedAt: PAST }));
    await source.add(reservation('a', { id: 2 }));
    expect((await copy()).written).to.equal(1);
    expect(await target.all()).to.deep.equal([reservation('a', { id: 2 })]);
  });

  it('touches nothing in a target whose reservations are not of the source', async () => {
    const foreign = [
      reservation('a', { id: 2 }),
      reservation('a', { fingerprint: 'g' }),
      reservation('a', { fields: '{}' }),
      reservation('absent'),
    ];
    await source.add(reservation('a'), reservation('b'));
    for (const other of foreign) {
      await target.add(other);
      expect(await failure(copy())).to.include(
        `a reservation of products, ${other.key}, that is not of the source`,
      );
      expect(await target.all()).to.deep.equal([other]);
      await target.archive.discard([other.key]);
    }
  });

  it('sees a target that lost something', async () => {
    await source.add(reservation('a'), reservation('b'));
    const add = target.archive.add.bind(target.archive);
    target.archive.add = (all) => add(all.slice(1));
    expect(await failure(copy())).to.include('2 reservations against 1 reservations');
  });
});
