import { expect } from 'chai';
import type { Creation } from '#src/application/records/record-service.js';
import type { Product } from '#src/domain/product.js';
import type { Versioned } from '#src/domain/record.js';
import {
  death,
  endOf,
  expectOneRecord,
  keyed,
  lamp,
  made,
  type Outcome,
  RecordCreationHarness,
  torch,
  withMethod,
} from '../../../support/record-creation-harness.js';

const LINES = 5;

const line = (number: number): Creation<Product> =>
  keyed(
    { name: `line ${number}`, sku: `sku.${number}` },
    { key: `stream/${number}`, fingerprint: `line ${number}`, storesFields: false },
  );

const stream = Array.from({ length: LINES }, (_, index) => line(index + 1));
const names = (lines: readonly number[]) => lines.map((number) => `line ${number}`);

/** A repository that crashes after it has inserted this many of the records. */
function crashingAfter(count: number, world: RecordCreationHarness) {
  return withMethod('insertAll', async (_, [records]) => {
    await world.records.insertAll((records as Versioned<Product>[]).slice(0, count));
    return death();
  });
}

describe('a batch of creations under idempotency keys', () => {
  let world: RecordCreationHarness;
  beforeEach(() => {
    world = new RecordCreationHarness();
  });
  const found = async () => {
    const { records } = await world.records.list({
      limit: 100,
      filters: [],
      order: [{ field: 'id', descending: false }],
    });
    return records.map(({ fields }) => fields.name);
  };

  it('returns the outcome of each line independently of the others', async () => {
    const other = await world.publishIfAbsent('sku.5');
    await world.process()(line(1));
    await world.process()(line(2));
    await world.records.removeAll([{ id: (await world.reserved('stream/2')) ?? 0, expected: 1, at: 0 }]);
    await endOf(world.process(withMethod('insertAll', death))(line(3)));
    await world.process()(torch('stream/4'));
    const unkeyed = keyed({ name: 'without a key' });
    const broken = keyed({ name: 'broken' }, { key: 'broken', fingerprint: 'broken', storesFields: true });
    world.refuses = ({ name }) => name === 'broken';

    const outcomes = await world.process()(...stream, unkeyed, broken, line(6));
    const [existing, deleted, interrupted, reused, duplicate, free, refused, fresh] = outcomes;
    expect([existing, deleted, interrupted, fresh].map(isReplay)).to.deep.equal([true, true, false, false]);
    expect([reused, duplicate, refused]).to.deep.equal([
      'idempotency_key_reused',
      'duplicate_value',
      'validation_failed',
    ]);
    expect(isReplay(free)).to.equal(false);
    const reserved = await Promise.all([1, 2, 3, 6].map((number) => world.reserved(`stream/${number}`)));
    expect(made(outcomes).map(({ id }) => id)).to.include.members(reserved);
    expect(await found()).to.have.members(['Other', ...names([1, 3, 6]), 'Torch', 'without a key']);

    await world.records.removeAll([{ id: other, expected: 1, at: 0 }]);
    const again = await world.process()(...stream, line(6));
    expect(again.map(isReplay)).to.deep.equal([true, true, true, undefined, false, true]);
    expect(await found()).to.have.members([...names([1, 3, 5, 6]), 'Torch', 'without a key']);
  });

  for (let inserted = 0; inserted <= LINES; inserted++) {
    it(`creates only the missing records after a crash that inserted ${inserted} of ${LINES}`, async () => {
      await endOf(world.process(crashingAfter(inserted, world))(...stream));
      const outcomes = await world.process()(...stream);
      expect(outcomes.map(isReplay)).to.deep.equal(stream.map((_, index) => index < inserted));
      expect(await found()).to.deep.equal(names([1, 2, 3, 4, 5]));
      const third = await world.process()(...stream);
      expect(third).to.deep.equal(outcomes.map((response) => ({ ...(response as object), isReplay: true })));
    });
  }

  it('creates each record once in two concurrent streams that overlap', async () => {
    const [one, other] = await Promise.all([
      world.process()(...stream.slice(0, 4)),
      world.process()(...stream.slice(1)),
    ]);
    for (const index of [1, 2, 3]) expectOneRecord([one[index] ?? '', other[index - 1] ?? ''], 1);
    expect(await found()).to.have.members(names([1, 2, 3, 4, 5]));
  });

  it('gives a sku to the same one of two lines each time the stream is sent', async () => {
    const both = [lamp(0, 'stream/1'), lamp(1, 'stream/2')];
    expect((await world.process()(...both)).map(isReplay)).to.deep.equal([false, undefined]);
    expect((await world.process()(...both)).map(isReplay)).to.deep.equal([true, undefined]);
    const first = (await world.reserved('stream/1')) ?? 0;
    const second = await world.reserved('stream/2');
    await world.records.removeAll([{ id: first, expected: 1, at: 0 }]);
    expect((await world.process()(...both)).map(isReplay)).to.deep.equal([true, false]);
    expect(await world.listed()).to.deep.equal([second]);
  });
});

function isReplay(response: Outcome | undefined): boolean | undefined {
  return typeof response === 'object' ? response.isReplay : undefined;
}
