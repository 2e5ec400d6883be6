import { expect } from 'chai';
import { FakeClock } from '../../../support/fakes.js';
import {
  expectOneRecord,
  keyed,
  lamp,
  made,
  RecordCreationHarness,
  SKU,
  torch,
} from '../../../support/record-creation-harness.js';

describe('the creation of a record under an idempotency key', () => {
  let world: RecordCreationHarness;
  beforeEach(() => (world = new RecordCreationHarness()));

  it('is never older than its reservation, so that its tombstone outlives it after the clock was set back', async () => {
    const other = await world.publishIfAbsent(SKU);
    const ahead = new FakeClock();
    ahead.time += 400 * 24 * 3_600_000;
    expect(await world.process(undefined, ahead)(lamp(0))).to.deep.equal(['duplicate_value']);
    await world.records.removeAll([{ id: other, expected: 1, at: 0 }]);
    const id = expectOneRecord(await world.process()(lamp(0)), 1);
    expect((await world.records.find(id))?.updatedAt).to.equal(ahead.time);
  });

  it('keeps a reserved id for its key, even if the creation failed', async () => {
    const process = world.process();
    const other = await world.publishIfAbsent(SKU);
    expect(await process(lamp(0))).to.deep.equal(['duplicate_value']);
    const reserved = await world.reserved();
    const others = await process(keyed({ name: 'a' }), keyed({ name: 'b' }), torch('another key'));
    expect(made(others).map(({ id }) => id)).to.not.include(reserved);
    await world.records.removeAll([{ id: other, expected: 1, at: 0 }]);
    expect(expectOneRecord(await process(lamp(0)), 1)).to.equal(reserved);
  });
});
