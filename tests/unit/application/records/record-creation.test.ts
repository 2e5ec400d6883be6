import { expect } from 'chai';
import { unavailable } from '#src/domain/errors.js';
import { FakeClock } from '../../../support/fakes.js';
import {
  death,
  endOf,
  expectOneRecord,
  keyed,
  lamp,
  made,
  RecordCreationHarness,
  SKU,
  torch,
  WAYS,
  withMethod,
} from '../../../support/record-creation-harness.js';

const PORT_CALLS = ['find', 'references', 'reserveIds', 'reserve', 'insertAll'];

const FAULTS: Readonly<Record<string, (call: () => unknown) => Promise<unknown>>> = {
  'crashes before': () => death(),
  'crashes after': async (call) => {
    await call();
    return death();
  },
  'loses the store before': async () => gone(),
  'loses the store after': async (call) => {
    await call();
    return gone();
  },
};

const gone = (): never => {
  throw unavailable('gone');
};

describe('the creation of a record under an idempotency key', () => {
  let world: RecordCreationHarness;
  beforeEach(() => {
    world = new RecordCreationHarness();
  });

  for (const call of PORT_CALLS) {
    for (const [outcome, fault] of Object.entries(FAULTS)) {
      it(`is finished by a retry if the first attempt ${outcome} ${call}`, async () => {
        expect(await endOf(world.process(withMethod(call, fault))(lamp(0)))).to.equal('lost');
        const reserved = await world.reserved();
        const wasMade = (await world.listed()).length === 1;
        expect(wasMade).to.equal(call === 'insertAll' && outcome.endsWith('after'));
        expect(reserved !== undefined).to.equal(
          call === 'insertAll' || (call === 'reserve' && outcome.endsWith('after')),
        );

        const retry = await world.process()(lamp(1));
        const third = await world.process()(lamp(0));
        const id = expectOneRecord([...retry, ...third], wasMade ? 0 : 1);
        expect(made(third)[0]?.isReplay).to.equal(true);
        expect(await world.listed()).to.deep.equal([id]);
        if (reserved === undefined) return;
        expect(id).to.equal(reserved);
        expect(made(retry)[0]?.text, 'the representation of the first attempt').to.equal(JSON.stringify(WAYS[0]));
      });
    }
  }

  for (const call of ['find', 'findUsedIds', 'references', 'insertAll']) {
    for (const [outcome, fault] of Object.entries(FAULTS)) {
      it(`is finished by a third attempt if the second ${outcome} ${call} under a reservation`, async () => {
        await endOf(world.process(withMethod('insertAll', death))(lamp(0)));
        expect(await endOf(world.process(withMethod(call, fault))(lamp(1)))).to.equal('lost');
        const wasMade = (await world.listed()).length === 1;
        const responses = [...(await world.process()(lamp(1))), ...(await world.process()(lamp(0)))];
        const id = expectOneRecord(responses, wasMade ? 0 : 1);
        expect([await world.listed(), await world.reserved()]).to.deep.equal([[id], id]);
        expect(made(responses)[0]?.text).to.equal(JSON.stringify(WAYS[0]));
      });
    }
  }

  it('returns the first response after a change and after a deletion of the record', async () => {
    const first = await world.process()(lamp(0));
    const id = expectOneRecord(first, 1);
    const current = await world.records.find(id);
    await world.records.replaceAll([
      { record: { ...current, id, version: 2, fields: { name: 'Torch' } } as never, expected: 1 },
    ]);
    expectOneRecord([...first, ...(await world.process()(lamp(1)))], 1);
    await world.records.removeAll([{ id, expected: 2, at: 0 }]);
    expectOneRecord([...first, ...(await world.process()(lamp(1)))], 1);
    expect(await world.listed()).to.deep.equal([]);
  });

  it('returns the same response to a late attempt, and does not restore the deleted record', async () => {
    let wake = () => {};
    const stalled = withMethod('insertAll', async (call) => {
      await new Promise<void>((go) => {
        wake = go;
      });
      return call();
    });
    const late = world.process(stalled)(lamp(0));
    const [other] = await world.process()(lamp(1));
    const id = expectOneRecord([other ?? ''], 1);
    await world.records.removeAll([{ id, expected: 1, at: 0 }]);
    await world.publishIfAbsent(SKU);
    const listed = await world.listed();
    wake();
    expect(await late).to.deep.equal([{ ...(other as object), isReplay: true }]);
    expect(await world.listed()).to.deep.equal(listed);
  });

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
