import { expect } from 'chai';
import type { Creation } from '#src/application/records/record-service.js';
import type { Product } from '#src/domain/product.js';
import {
  death,
  endOf,
  expectOneRecord,
  lamp,
  made,
  type Outcome,
  RecordCreationHarness,
  refused,
  SKU,
  torch,
  withMethod,
} from '../support/record-creation-harness.js';
import { sized } from '../support/run-settings.js';
import { everyOrder, type Schedule, someOrders } from '../unit/application/records/interleavings.js';

describe('concurrent creations under one idempotency key, in every order of their steps', () => {
  let world: RecordCreationHarness;

  const inEveryOrder = (scene: (schedule: Schedule) => Promise<void>) =>
    everyOrder(async (schedule) => {
      world = new RecordCreationHarness();
      await scene(schedule);
    });
  const inSomeOrders = (scene: (schedule: Schedule) => Promise<void>) =>
    someOrders(sized({ gate: 500, night: 3_000 }), async (schedule) => {
      world = new RecordCreationHarness();
      await scene(schedule);
    });

  type Other = () => Promise<unknown>;

  /** Runs attempts concurrently, each in its own process, and other actions at some moment in between. */
  const play = async (
    schedule: Schedule,
    attempts: readonly Creation<Product>[],
    ...others: Other[]
  ): Promise<Outcome[]> => {
    const afterOneStep = async (other: Other): Promise<Outcome[]> => {
      await schedule.step();
      await other();
      return [];
    };
    const outcomes = attempts.map((creation) => world.process((port) => schedule.stepwise(port))(creation));
    return (await schedule.run([...outcomes, ...others.map(afterOneStep)])).flat();
  };

  const reserved = async () => (await world.reserved()) ?? 0;
  const deletion: Other = async () => {
    const record = await world.records.find(await reserved());
    if (record) await world.records.removeAll([{ id: record.id, expected: record.version, at: 0 }]);
  };
  const change: Other = async () => {
    const record = await world.records.find(await reserved());
    if (record)
      await world.records.replaceAll([{ record: { ...record, version: 2, fields: { name: 'Changed' } }, expected: 1 }]);
  };

  it('create one record in two attempts', async () => {
    const orders = await inEveryOrder(async (schedule) => {
      const id = expectOneRecord(await play(schedule, [lamp(0), lamp(1)]), 1);
      expect([await world.listed(), await reserved()]).to.deep.equal([[id], id]);
    });
    expect(orders).to.be.greaterThan(200);
  });

  it('do not recreate a record that is deleted concurrently', async () => {
    let deleted = 0;
    await inEveryOrder(async (schedule) => {
      const outcomes = await play(schedule, [lamp(0), lamp(1)], deletion);
      const id = expectOneRecord(outcomes, 1);
      const found = await world.listed();
      if (found.length === 0) deleted++;
      else expect(found).to.deep.equal([id]);
      const late = await world.process()(lamp(0));
      expectOneRecord([...outcomes, ...late], 1);
      expect(await world.listed()).to.deep.equal(found);
    });
    expect(deleted).to.be.greaterThan(100);
  });

  it('finish the creation of a crashed process, despite concurrent changes and deletions', async () => {
    await inSomeOrders(async (schedule) => {
      await endOf(world.process(withMethod('insertAll', death))(lamp(0)));
      const id = await reserved();
      const outcomes = await play(schedule, [lamp(1), lamp(0), lamp(1)], change, deletion, deletion);
      expect(expectOneRecord(outcomes, 1)).to.equal(id);
      expect((await world.listed()).length).to.be.lessThan(2);
    });
  });

  describe('another body', () => {
    const expectOneBody = (outcomes: readonly Outcome[]) => {
      const [lost] = refused(outcomes);
      expect(refused(outcomes)).to.have.length(1);
      expect(lost).to.equal('idempotency_key_reused');
    };

    it('loses or wins against the first body, and the loser creates nothing', async () => {
      await inEveryOrder(async (schedule) => {
        const outcomes = await play(schedule, [lamp(0), torch()]);
        expectOneBody(outcomes);
        expect(await world.listed()).to.deep.equal([expectOneRecord(outcomes, 1)]);
      });
    });

    it('is rejected after a failed creation, which reserved the id', async () => {
      await inEveryOrder(async (schedule) => {
        const other = await world.publishIfAbsent(SKU);
        expect(await world.process()(lamp(0))).to.deep.equal(['duplicate_value']);
        const gone = () => world.records.removeAll([{ id: other, expected: 1, at: 0 }]);
        const outcomes = await play(schedule, [lamp(1), torch()], gone);
        expect(outcomes[1]).to.equal('idempotency_key_reused');
        expect((await world.listed()).length).to.be.lessThan(2);
      });
    });
  });

  describe('after a failed creation', () => {
    it('create one record if the duplicate sku becomes free concurrently', async () => {
      let [none, one, both] = [0, 0, 0];
      await inEveryOrder(async (schedule) => {
        const other = await world.publishIfAbsent(SKU);
        const outcomes = await play(schedule, [lamp(0), lamp(1)], () =>
          world.records.removeAll([{ id: other, expected: 1, at: 0 }]),
        );
        if (made(outcomes).length === 0) none++;
        else if (made(outcomes).length === 1) one++;
        else both++;
        for (const code of refused(outcomes)) expect(code).to.equal('duplicate_value');
        const fresh = made(outcomes).length === 0 ? 0 : 1;
        const id = await reserved();
        if (fresh === 1) expect(expectOneRecord(outcomes, fresh)).to.equal(id);
        const late = await world.process()(lamp(0));
        expectOneRecord([...outcomes, ...late], 1);
        expect(await world.listed()).to.deep.equal([id]);
      });
      expect(Math.min(none, one, both)).to.be.greaterThan(10);
    });
  });

  it('never fail once the record exists, even if its body is no longer valid', async () => {
    let late = 0;
    await inEveryOrder(async (schedule) => {
      const outcomes = await play(schedule, [lamp(0), lamp(1)], async () => {
        if ((await world.listed()).length === 0) return;
        world.refuses = () => true;
        late++;
      });
      expect(await world.listed()).to.deep.equal([expectOneRecord(outcomes, 1)]);
      expect(refused(outcomes)).to.deep.equal([]);
    });
    expect(late).to.be.greaterThan(100);
  });
});
