import { expect } from 'chai';
import { unavailable } from '#src/domain/errors.js';
import {
  death,
  differing,
  endOf,
  expectOneRecord,
  keyed,
  lamp,
  made,
  SKU,
  torch,
  WAYS,
  World,
} from '../../../support/creation-world.js';

const PORT_CALLS = ['find', 'validate', 'reserveIds', 'reserve', 'insertAll'];

const ISSUES: Readonly<Record<string, (call: () => unknown) => Promise<unknown>>> = {
  'dies before': () => death(),
  'dies after': async (call) => {
    await call();
    return death();
  },
  'finds the store gone before': async () => gone(),
  'finds the store gone after': async (call) => {
    await call();
    return gone();
  },
};

const gone = (): never => {
  throw unavailable('gone');
};

describe('the creation of a record under a key', () => {
  let world: World;
  beforeEach(() => {
    world = new World();
  });

  for (const call of PORT_CALLS) {
    for (const [what, issue] of Object.entries(ISSUES)) {
      it(`is finished by a retry when the first attempt ${what} ${call}`, async () => {
        expect(await endOf(world.process(differing(call, issue))(lamp(0)))).to.equal('lost');
        const reserved = await world.reserved();
        const wasMade = (await world.listed()).length === 1;
        expect(wasMade).to.equal(call === 'insertAll' && what.endsWith('after'));
        expect(reserved !== undefined).to.equal(
          call === 'insertAll' || (call === 'reserve' && what.endsWith('after')),
        );

        const retry = await world.process()(lamp(1));
        const third = await world.process()(lamp(0));
        const id = expectOneRecord([...retry, ...third], wasMade ? 0 : 1);
        expect(made(third)[0]?.isReplay).to.equal(true);
        expect(await world.listed()).to.deep.equal([id]);
        if (reserved === undefined) return;
        expect(id).to.equal(reserved);
        expect(made(retry)[0]?.text, 'what was promised first').to.equal(JSON.stringify(WAYS[0]));
      });
    }
  }

  for (const what of ['find', 'findUsedIds', 'validate', 'insertAll']) {
    for (const [how, issue] of Object.entries(ISSUES)) {
      it(`is finished by a third attempt when the second ${how} ${what} under a reservation`, async () => {
        await endOf(world.process(differing('insertAll', death))(lamp(0)));
        expect(await endOf(world.process(differing(what, issue))(lamp(1)))).to.equal('lost');
        const wasMade = (await world.listed()).length === 1;
        const responses = [...(await world.process()(lamp(1))), ...(await world.process()(lamp(0)))];
        const id = expectOneRecord(responses, wasMade ? 0 : 1);
        expect([await world.listed(), await world.reserved()]).to.deep.equal([[id], id]);
        expect(made(responses)[0]?.text).to.equal(JSON.stringify(WAYS[0]));
      });
    }
  }

  it('answers as the first time when the record was changed, and when it was deleted', async () => {
    const first = await world.process()(lamp(0));
    const id = expectOneRecord(first, 1);
    const current = await world.records.find(id);
    await world.records.replace({ ...current, id, version: 2, fields: { name: 'Torch' } } as never, 1);
    expectOneRecord([...first, ...(await world.process()(lamp(1)))], 1);
    await world.records.remove(id, 2, 0);
    expectOneRecord([...first, ...(await world.process()(lamp(1)))], 1);
    expect(await world.listed()).to.deep.equal([]);
  });

  it('tells an attempt that comes late what the others were told, and brings nothing back', async () => {
    let wake = () => {};
    const stalled = differing('insertAll', async (call) => {
      await new Promise<void>((go) => {
        wake = go;
      });
      return call();
    });
    const late = world.process(stalled)(lamp(0));
    const [other] = await world.process()(lamp(1));
    const id = expectOneRecord([other ?? ''], 1);
    await world.records.remove(id, 1, 0);
    await world.occupy(SKU);
    const listed = await world.listed();
    wake();
    expect(await late).to.deep.equal([{ ...(other as object), isReplay: true }]);
    expect(await world.listed()).to.deep.equal(listed);
  });

  it('gives a reserved id to nobody else, though its record was refused', async () => {
    const process = world.process();
    const other = await world.occupy(SKU);
    expect(await process(lamp(0))).to.deep.equal(['duplicate_value']);
    const reserved = await world.reserved();
    const others = await process(keyed({ name: 'a' }), keyed({ name: 'b' }), torch('another key'));
    expect(made(others).map(({ id }) => id)).to.not.include(reserved);
    await world.records.remove(other, 1, 0);
    expect(expectOneRecord(await process(lamp(0)), 1)).to.equal(reserved);
  });
});
