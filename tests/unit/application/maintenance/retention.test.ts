import { expect } from 'chai';
import { MemoryIdempotencyStore } from '#src/adapters/outbound/memory/expiring.js';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { RESERVATION_MS, Retention, TOMBSTONE_MS } from '#src/application/maintenance/retention.js';
import type { Purgeable } from '#src/application/ports/table-store.js';
import { unavailable } from '#src/domain/errors.js';
import { expectAppError } from '../../../support/expect-refusal.js';
import { FakeClock } from '../../../support/fakes.js';
import { ENDLESS, PRODUCTS } from '../../../support/tables.js';

const HOUR_MS = 3_600_000;

/** Records the calls, and has `left` entries to purge. */
class FakePurgeable implements Purgeable {
  readonly moments: number[] = [];
  readonly limits: number[] = [];

  constructor(
    readonly retentionMs: number,
    public left = 0,
  ) {}

  async purgeBefore(moment: number, limit: number): Promise<number> {
    this.moments.push(moment);
    this.limits.push(limit);
    const removed = Math.min(this.left, limit);
    this.left -= removed;
    return removed;
  }
}

describe('Retention', () => {
  let clock: FakeClock;
  let start: number;
  beforeEach(() => {
    clock = new FakeClock();
    start = clock.time;
  });
  const pass = (ms: number) => {
    clock.time += ms;
    clock.running += ms;
  };

  it('keeps a reservation for at least 24 hours, and a tombstone for longer than any reservation of its id', () => {
    expect(RESERVATION_MS).to.be.at.least(25 * HOUR_MS);
    expect(TOMBSTONE_MS).to.be.at.least(RESERVATION_MS + 24 * HOUR_MS);
    expect(TOMBSTONE_MS, 'longer than a cursor of changes lives').to.be.at.least(51 * HOUR_MS);
  });

  it('purges each kind after its own retention time', async () => {
    const purgeables = [new FakePurgeable(HOUR_MS), new FakePurgeable(2 * HOUR_MS)];
    const retention = new Retention(purgeables, clock);
    pass(10 * HOUR_MS);
    await retention.purgeExpired();
    const now = start + 10 * HOUR_MS;
    expect(purgeables.map(({ moments }) => moments)).to.deep.equal([[now - HOUR_MS], [now - 2 * HOUR_MS]]);
  });

  it('names whole milliseconds, whatever the clock that measures the time of the process says', async () => {
    const purgeable = new FakePurgeable(HOUR_MS);
    const retention = new Retention([purgeable], clock);
    clock.time += 10;
    clock.running += 5.75;
    await retention.purgeExpired();
    expect(purgeable.moments).to.deep.equal([start + 5 - HOUR_MS]);
  });

  it('purges entries one millisecond after their retention time, and not before', async () => {
    const [reservations, tombstones] = [
      new MemoryIdempotencyStore(),
      new MemoryRepository(PRODUCTS, ENDLESS).tombstones,
    ];
    const retention = new Retention([reservations, tombstones], clock);
    await reservations.reserve([{ key: 'a', fingerprint: 'f', id: 1, reservedAt: start }]);
    tombstones.add(1, { at: start, version: 2 });
    const left = async () => [(await reservations.find(['a'])).size, Number(tombstones.has(1))];
    pass(RESERVATION_MS);
    await retention.purgeExpired();
    expect(await left()).to.deep.equal([1, 1]);
    pass(1);
    await retention.purgeExpired();
    expect(await left()).to.deep.equal([0, 1]);
    pass(TOMBSTONE_MS - RESERVATION_MS);
    await retention.purgeExpired();
    expect(await left()).to.deep.equal([0, 0]);
  });

  it('purges the other kinds if one fails, and then says so', async () => {
    const failing: Purgeable = { retentionMs: 0, purgeBefore: () => Promise.reject(unavailable('It fails.')) };
    const other = new FakePurgeable(0, 1);
    await expectAppError(new Retention([failing, other], clock).purgeExpired(), 'unavailable');
    expect(other.left).to.equal(0);
  });

  it('purges nothing early if the clock is set forward', async () => {
    const purgeable = new FakePurgeable(HOUR_MS);
    const retention = new Retention([purgeable], clock);
    pass(HOUR_MS);
    clock.time += 1_000 * HOUR_MS;
    await retention.purgeExpired();
    expect(purgeable.moments).to.deep.equal([start]);
  });

  it('follows the clock if it is set back', async () => {
    const purgeable = new FakePurgeable(HOUR_MS);
    const retention = new Retention([purgeable], clock);
    pass(HOUR_MS);
    clock.time -= 3 * HOUR_MS;
    await retention.purgeExpired();
    expect(purgeable.moments).to.deep.equal([start - 3 * HOUR_MS]);
  });

  it('purges in batches, and yields to the event loop between them', async () => {
    const purgeables = [new FakePurgeable(0, 1_250), new FakePurgeable(0, 500)];
    let [turns, isOver] = [0, false];
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await new Retention(purgeables, clock).purgeExpired();
    isOver = true;
    expect(purgeables.map(({ left }) => left)).to.deep.equal([0, 0]);
    expect(purgeables.map(({ limits }) => limits)).to.deep.equal([
      [500, 500, 500],
      [500, 500],
    ]);
    expect(turns).to.be.at.least(3);
  });

  it('stops between two batches if the caller stops it', async () => {
    const purgeables = [new FakePurgeable(0, 10_000), new FakePurgeable(0, 10_000)];
    let checks = 0;
    await new Retention(purgeables, clock).purgeExpired(() => ++checks > 3);
    expect(purgeables.map(({ left }) => left)).to.deep.equal([8_500, 10_000]);
  });

  it('fails if the store is unavailable', async () => {
    const gone: Purgeable = { retentionMs: 0, purgeBefore: () => Promise.reject(unavailable('gone')) };
    await expectAppError(new Retention([gone], clock).purgeExpired(), 'unavailable');
  });
});
