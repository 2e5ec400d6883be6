import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { SqliteReservations } from '#src/adapters/outbound/sqlite/records/reservations.js';
import { ArchiveCopy, CopyError } from '#src/application/maintenance/copy-archive.js';
import { reservationRules } from '#src/application/maintenance/copy-rules.js';
import { RESERVATION_MS } from '#src/application/maintenance/retention.js';
import type { Reservation } from '#src/application/ports/idempotency-store.js';
import { PRODUCTS } from '../../../support/tables.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const NOW = Date.UTC(2026, 0, 10);
const HOUR_MS = 3_600_000;
/** The oldest time of a reservation that is still valid at NOW. */
const OLDEST = NOW - 24 * HOUR_MS;
const PAST = OLDEST - 1;

describe('copying reservations', () => {
  const folder = temporaryFolder();
  let count = 0;
  let source: Side;
  let target: Side;

  class Side {
    private readonly database = new SqliteDatabase(join(folder, `reservations-${++count}.sqlite`));
    readonly archive = new SqliteReservations(this.database, PRODUCTS);
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

  it('copies every valid reservation, and returns a checksum', async () => {
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

  it('continues after an interrupted run', async () => {
    const all = Array.from({ length: 10 }, (_, i) => reservation(`k${i}`));
    await source.add(...all);
    await target.add(...all.slice(3, 6));
    expect((await copy()).written).to.equal(7);
    expect(await target.all()).to.deep.equal(all);
  });

  it('skips expired reservations, and copies the oldest valid one', async () => {
    await source.add(reservation('a', { reservedAt: OLDEST }), reservation('b', { reservedAt: PAST }));
    const { counts, written } = await copy();
    expect([counts, written]).to.deep.equal([{ reservation: 1 }, 1]);
    expect(await target.all()).to.deep.equal([reservation('a', { reservedAt: OLDEST })]);
  });

  it('accepts expired reservations in the target that the source has purged', async () => {
    await target.add(reservation('a', { reservedAt: PAST }));
    await source.add(reservation('b'));
    expect((await copy()).counts).to.deep.equal({ reservation: 1 });
    expect(await target.all()).to.have.length(2);
  });

  it('finishes at least an hour before the source purges the copied reservations', async () => {
    await source.add(reservation('a', { reservedAt: OLDEST }));
    await copy();
    expect(OLDEST - (NOW - RESERVATION_MS), 'milliseconds').to.be.at.least(HOUR_MS);
  });

  it('replaces an expired reservation if the source has reused its key', async () => {
    await target.add(reservation('a', { id: 1, reservedAt: PAST }));
    await source.add(reservation('a', { id: 2 }));
    expect((await copy()).written).to.equal(1);
    expect(await target.all()).to.deep.equal([reservation('a', { id: 2 })]);
  });

  it('rejects a target with foreign reservations, and leaves it unchanged', async () => {
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

  it('fails if the target lost a reservation', async () => {
    await source.add(reservation('a'), reservation('b'));
    const add = target.archive.add.bind(target.archive);
    target.archive.add = (all) => add(all.slice(1));
    expect(await failure(copy())).to.include('2 reservations against 1 reservations');
  });
});
