import { expect } from 'chai';
import { PRODUCTS as VIEW } from '#src/adapters/inbound/http/resources/definitions.js';
import { MemoryIdempotencyStore } from '#src/adapters/outbound/memory/expiring.js';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import type { Backoff } from '#src/application/ports/clock.js';
import { IdAllocator, type IdPool } from '#src/application/records/id-allocator.js';
import { type SentBeside, sentDraft } from '#src/application/records/record-format.js';
import { type RecordWrite, RecordWriter, type WriteOutcome } from '#src/application/records/record-writer.js';
import { MAX_ATTEMPTS } from '#src/application/records/write-conditions.js';
import { AppError, unavailable } from '#src/domain/errors.js';
import type { Product } from '#src/domain/product.js';
import type { Id } from '#src/domain/record.js';
import { Task } from '#src/shared/task-scheduler.js';
import { FakeClock } from '../../../support/fakes.js';
import { list } from '../../../support/list.js';
import { ENDLESS, PRODUCTS } from '../../../support/tables.js';
import { turnsOfOthers } from '../../../support/turns.js';
import { until } from '../../../support/until.js';

type Products = MemoryRepository<Product>;
type Batched = 'findAllByUnique' | 'insertAll' | 'replaceAll' | 'removeAll' | 'confirmAll';

/** A repository whose batches a rival writer, or a failure, can precede. */
class RacedRepository extends MemoryRepository<Product> {
  /** The batches so far, each with its length. */
  readonly batches: (readonly [Batched, number])[] = [];
  /** Runs before each batch; batches of one kind count from 1. */
  before: (name: Batched, count: number) => Promise<unknown> | unknown = () => {};
  /** The rival, whose writes no test watches. */
  readonly rival = {
    insert: async (fields: Product) => {
      const id = await this.reserveIds(1);
      const record = { id, version: 1, createdAt: 0, updatedAt: 0, fields };
      expect(await super.insertAll([record])).to.deep.equal(['inserted']);
      return id;
    },
    /** @returns the new version */
    change: async (id: Id, fields: Partial<Product>) => {
      const old = await this.find(id);
      if (!old) throw new Error(`No record has the id ${id}.`);
      const record = { ...old, version: old.version + 1, fields: { ...old.fields, ...fields } };
      expect(await super.replaceAll([{ record, expected: old.version }])).to.deep.equal(['replaced']);
      return record.version;
    },
    remove: async (id: Id) => {
      const { version = 0 } = (await this.find(id)) ?? {};
      expect(await super.removeAll([{ id, expected: version, at: 0 }])).to.deep.equal([true]);
    },
  };

  override findAllByUnique(...args: Parameters<Products['findAllByUnique']>) {
    return this.watched('findAllByUnique', args[1].length).then(() => super.findAllByUnique(...args));
  }

  override insertAll(...args: Parameters<Products['insertAll']>) {
    return this.watched('insertAll', args[0].length).then(() => super.insertAll(...args));
  }

  override async replaceAll(...args: Parameters<Products['replaceAll']>) {
    for (const { record, expected, before } of args[0]) {
      const stored = await this.find(record.id);
      if (stored?.version === expected) expect(before, 'the fields before').to.deep.equal(stored.fields);
    }
    await this.watched('replaceAll', args[0].length);
    return super.replaceAll(...args);
  }

  override removeAll(...args: Parameters<Products['removeAll']>) {
    return this.watched('removeAll', args[0].length).then(() => super.removeAll(...args));
  }

  override confirmAll(...args: Parameters<Products['confirmAll']>) {
    return this.watched('confirmAll', args[0].length).then(() => super.confirmAll(...args));
  }

  private async watched(name: Batched, length: number): Promise<void> {
    this.batches.push([name, length]);
    await this.before(name, this.batches.filter(([other]) => other === name).length);
  }
}

/** Records the ids that are taken and given back. */
class WatchedIds implements IdPool {
  readonly taken: Id[] = [];
  readonly returned: Id[] = [];
  private readonly source: IdPool;

  constructor(records: RacedRepository) {
    this.source = new IdAllocator(records as never, 1);
  }

  async take(count: number): Promise<Id[]> {
    const ids = await this.source.take(count);
    this.taken.push(...ids);
    return ids;
  }

  giveBack(ids: readonly Id[]): void {
    this.returned.push(...ids);
  }
}

class RecordingBackoff implements Backoff {
  readonly attempts: number[] = [];

  async pause(attempt: number): Promise<void> {
    this.attempts.push(attempt);
  }
}

/** How a record is found, and what happens to it. */
interface Policy {
  readonly field: string;
  readonly existing: 'merge' | 'replace' | 'skip';
}

interface KeyedWrite extends Omit<RecordWrite<Product>, 'draft'> {
  readonly sent: SentBeside;
}

const BY_SKU: Policy = { field: 'sku', existing: 'merge' };
const SKU = 'L-1';

function keyed(key: string | number, body: object, more: Partial<KeyedWrite> = {}): KeyedWrite {
  const sent = () => ({ body: typeof key === 'string' ? { sku: key, ...body } : body, issues: new Map() });
  return { key, bytes: 1, sent, ...more };
}

describe('RecordWriter', () => {
  let records: RacedRepository;
  let ids: WatchedIds;
  let backoff: RecordingBackoff;

  beforeEach(() => {
    records = new RacedRepository(PRODUCTS, ENDLESS);
    ids = new WatchedIds(records);
    backoff = new RecordingBackoff();
  });

  const writer = ({ field } = BY_SKU) =>
    new RecordWriter<Product>(
      {
        records,
        reservations: new MemoryIdempotencyStore(),
        ids,
        clock: new FakeClock(),
        backoff,
        rules: {},
        fields: PRODUCTS.fields,
      },
      { field },
    );
  const drafted = (writes: readonly KeyedWrite[], { existing } = BY_SKU) =>
    writes.map(({ sent, ...write }) => ({ ...write, draft: sentDraft(VIEW, existing, sent) }));
  const outcomesOf = (writes: readonly KeyedWrite[], policy?: Policy) =>
    writer(policy).writeAll(drafted(writes, policy), new Task('a'));
  const writeAll = async (writes: readonly KeyedWrite[], policy?: Policy) =>
    (await outcomesOf(writes, policy)).map(told);
  const write = async (one: KeyedWrite, policy?: Policy) => (await writeAll([one], policy))[0];
  /** The kind of an outcome with the version, or the code of an error. */
  const told = (outcome: WriteOutcome<Product>) => {
    if (outcome instanceof AppError) return outcome.code;
    const { kind } = outcome;
    return kind === 'deleted' || kind === 'absent' ? kind : `${kind} ${outcome.record.version}`;
  };
  const stored = async (sku = SKU) => (await records.findByUnique('sku', sku))?.fields;
  const namesOf = () => records.batches.map(([name]) => name);
  const upTo = (last: number) => Array.from({ length: last }, (_, n) => n + 1);

  const DELETION = { isDeletion: true };
  /** Each step that can lose a race, with what a rival does to the record before it, and what is left. */
  const RACES: readonly {
    readonly step: Batched;
    readonly body: object;
    readonly more?: Partial<KeyedWrite>;
    readonly won: string;
  }[] = [
    { step: 'replaceAll', body: { name: 'mine' }, won: `changed ${MAX_ATTEMPTS + 1}` },
    { step: 'confirmAll', body: { name: 'Lamp' }, won: `unchanged ${MAX_ATTEMPTS}` },
    { step: 'removeAll', body: {}, more: DELETION, won: 'deleted' },
  ];

  for (const { step, body, more, won } of RACES) {
    const loseTo = async (losses: number) => {
      const id = await records.rival.insert({ name: 'Lamp', sku: SKU });
      records.before = async (name, count) => {
        if (name === step && count <= losses)
          await records.rival.change(id, { attributes: { [`rival ${count}`]: count } });
      };
      return id;
    };

    it(`wins in the last of ${MAX_ATTEMPTS} attempts: ${step}`, async () => {
      const id = await loseTo(MAX_ATTEMPTS - 1);
      expect(await write(keyed(SKU, body, more))).to.equal(won);
      expect(backoff.attempts).to.deep.equal(upTo(MAX_ATTEMPTS - 1));
      expect(namesOf()).to.deep.equal(Array(MAX_ATTEMPTS).fill(['findAllByUnique', step]).flat());
      const { fields } = (await records.find(id)) ?? {};
      if (step === 'removeAll') expect(fields).to.equal(undefined);
      else expect(fields?.attributes).to.deep.equal({ [`rival ${MAX_ATTEMPTS - 1}`]: MAX_ATTEMPTS - 1 });
    });

    it(`writes nothing after ${MAX_ATTEMPTS} lost attempts: ${step}`, async () => {
      const id = await loseTo(MAX_ATTEMPTS);
      expect(await write(keyed(SKU, body, more))).to.equal('unavailable');
      expect(namesOf()).to.deep.equal(Array(MAX_ATTEMPTS).fill(['findAllByUnique', step]).flat());
      expect(backoff.attempts).to.deep.equal(upTo(MAX_ATTEMPTS - 1));
      const { version, fields } = (await records.find(id)) ?? {};
      expect([version, fields?.name]).to.deep.equal([MAX_ATTEMPTS + 1, 'Lamp']);
    });
  }

  /** Before each of the first insertions a rival creates the record, and deletes it before the next look-up. */
  const raceInsertions = (losses: number) => {
    let rival: Id = 0;
    records.before = async (name, count) => {
      if (name === 'findAllByUnique' && count > 1) await records.rival.remove(rival);
      if (name === 'insertAll' && count <= losses) rival = await records.rival.insert({ name: 'rival', sku: SKU });
    };
  };

  it(`creates a record in the last of ${MAX_ATTEMPTS} attempts, and gives back the ids of the others`, async () => {
    raceInsertions(MAX_ATTEMPTS - 1);
    expect(await write(keyed(SKU, { name: 'mine' }))).to.equal('created 1');
    expect(await stored()).to.deep.equal({ name: 'mine', sku: SKU });
    expect(ids.returned).to.deep.equal(ids.taken.slice(0, -1));
    expect(ids.taken).to.have.length(MAX_ATTEMPTS);
  });

  it(`creates nothing after ${MAX_ATTEMPTS} lost attempts, and gives back every id`, async () => {
    raceInsertions(MAX_ATTEMPTS);
    expect(await write(keyed(SKU, { name: 'mine' }))).to.equal('unavailable');
    expect(await stored()).to.deep.equal({ name: 'rival', sku: SKU });
    expect(ids.returned).to.deep.equal(ids.taken);
    expect(ids.taken).to.have.length(MAX_ATTEMPTS);
  });

  it('says that nothing was written, and that a repeat may help', async () => {
    raceInsertions(MAX_ATTEMPTS);
    const [outcome] = await outcomesOf([keyed(SKU, { name: 'mine' })]);
    expect(outcome)
      .to.be.instanceOf(AppError)
      .with.property('message', 'Too many other requests are changing this record. Nothing was written; try again.');
  });

  describe('after its look-up', () => {
    const appearing = (fields: Product = { name: 'rival', sku: SKU, description: 'theirs' }) => {
      records.before = async (name, count) => {
        if (name === 'insertAll' && count === 1) await records.rival.insert(fields);
      };
    };

    for (const [existing, outcome, fields] of [
      ['merge', 'changed 2', { name: 'mine', description: 'theirs', sku: SKU }],
      ['replace', 'changed 2', { name: 'mine', sku: SKU }],
      ['skip', 'unchanged 1', { name: 'rival', description: 'theirs', sku: SKU }],
    ] as const)
      it(`finds a record that has appeared: existing=${existing}`, async () => {
        appearing();
        expect(await write(keyed(SKU, { name: 'mine' }), { ...BY_SKU, existing })).to.equal(outcome);
        expect(await stored()).to.deep.equal(fields);
        expect(ids.returned).to.deep.equal(ids.taken);
        expect(backoff.attempts).to.deep.equal([1]);
      });

    it('finds that a record which has appeared must not be there', async () => {
      appearing();
      const [outcome] = await outcomesOf([keyed(SKU, { name: 'mine' }, { precondition: { never: 'any' } })]);
      expect(outcome).to.include({ code: 'precondition_failed' });
      expect((outcome as { current?: object }).current).to.deep.include({ version: 1 });
    });

    for (const [step, more, field, outcome] of [
      ['replaceAll', {}, 'sku', 'created 1'],
      ['replaceAll', {}, 'id', 'not_found'],
      ['replaceAll', { mustExist: true }, 'sku', 'not_found'],
      ['confirmAll', {}, 'sku', 'created 1'],
      ['confirmAll', {}, 'id', 'not_found'],
      ['removeAll', DELETION, 'sku', 'absent'],
      ['removeAll', { ...DELETION, precondition: { only: [1] }, mustExist: true }, 'id', 'absent'],
    ] as const)
      it(`finds that a record has gone: ${step} by ${field}, ${JSON.stringify(more)}`, async () => {
        const id = await records.rival.insert({ name: 'Lamp', sku: SKU });
        records.before = async (name, count) => {
          if (name === step && count === 1) await records.rival.remove(id);
        };
        const body = { name: step === 'confirmAll' ? 'Lamp' : 'mine' };
        const one = keyed(field === 'id' ? id : SKU, body, more);
        expect(await write(one, { field, existing: 'merge' })).to.equal(outcome);
        expect((await stored())?.name).to.equal(outcome === 'created 1' ? body.name : undefined);
      });

    it('does not name the record itself as the one that has its value', async () => {
      const [id, other] = [
        await records.rival.insert({ name: 'Lamp', sku: 'mine' }),
        await records.rival.insert({ name: 'Lamp', sku: SKU }),
      ];
      records.before = async (name) => {
        if (name !== 'findAllByUnique') return;
        await records.rival.remove(other);
        await records.rival.change(id, { sku: SKU });
      };
      const [outcome] = await outcomesOf([keyed(id, { sku: SKU })], { field: 'id', existing: 'merge' });
      expect(outcome).to.include({ code: 'duplicate_value' });
      expect((outcome as AppError).details[0]).to.not.have.property('id');
    });

    it('checks the precondition again, also before it confirms or deletes', async () => {
      for (const [step, more] of Object.entries({ replaceAll: {}, confirmAll: {}, removeAll: DELETION })) {
        const sku = `only-${step}`;
        const id = await records.rival.insert({ name: 'Lamp', sku });
        let isRaced = false;
        records.before = async (name) => {
          if (name === step && !isRaced) {
            isRaced = true;
            await records.rival.change(id, { description: 'theirs' });
          }
        };
        const body = step === 'confirmAll' ? {} : { name: 'mine' };
        const one = keyed(sku, body, { ...more, precondition: { only: [1] }, mustExist: true });
        expect(await write(one), step).to.equal('precondition_failed');
        expect(await stored(sku)).to.deep.equal({ name: 'Lamp', sku, description: 'theirs' });
      }
    });
  });

  it('goes again with the writes alone that have lost', async () => {
    const skus = ['a', 'b', 'c'];
    const found: Id[] = [];
    for (const sku of skus) found.push(await records.rival.insert({ name: 'Lamp', sku }));
    records.before = async (name, count) => {
      if (name === 'replaceAll' && count === 1) await records.rival.change(found[1] ?? 0, { description: 'x' });
    };
    const outcomes = await writeAll(skus.map((sku) => keyed(sku, { name: 'mine' })));
    expect(outcomes).to.deep.equal(['changed 2', 'changed 3', 'changed 2']);
    expect(records.batches).to.deep.equal([
      ['findAllByUnique', 3],
      ['replaceAll', 3],
      ['findAllByUnique', 1],
      ['replaceAll', 1],
    ]);
  });

  it('lets the writes of other values go on while one pauses, and those of its values follow', async () => {
    const [lost, named] = [
      await records.rival.insert({ name: 'Lamp', sku: 'lost' }),
      await records.rival.insert({ name: 'Lamp', sku: 'named' }),
    ];
    let release = () => {};
    backoff.pause = () => new Promise((resolve) => (release = resolve));
    records.before = async (name, count) => {
      if (name === 'replaceAll' && count === 1) await records.rival.change(lost, { description: 'theirs' });
    };
    const byId: Policy = { field: 'id', existing: 'merge' };
    const one = writer(byId);
    const ended: string[] = [];
    const start = async (...writes: readonly (readonly [Id, object])[]) => {
      const outcomes = await one.startAll(
        drafted(
          writes.map(([id, body]) => keyed(id, body)),
          byId,
        ),
        new Task('a'),
      );
      outcomes.forEach(async (outcome, at) => {
        ended.push(`${JSON.stringify(writes[at]?.[1])} ${told(await outcome)}`);
      });
      await Promise.resolve();
    };
    await start([lost, { sku: 'x' }], [named, { name: 'b' }], [lost, { name: 'c' }], [named, { name: 'd' }]);
    // The value that the first write gives up belongs to it until it ends.
    await start([named, { sku: 'lost' }], [named, { name: 'f' }]);
    await start([await records.rival.insert({ name: 'New', sku: 'new' }), { name: 'g' }]);
    const early = ['{"name":"b"} changed 2', '{"name":"d"} changed 3', '{"name":"g"} changed 2'];
    expect(ended).to.deep.equal(early);
    release();
    await until('all end', () => ended.length === 7);
    expect(ended.slice(3).toSorted()).to.deep.equal(
      list`{"name":"c"} changed 4  {"name":"f"} changed 5  {"sku":"lost"} changed 4  {"sku":"x"} changed 3`,
    );
    expect(await stored('x')).to.deep.equal({ name: 'c', sku: 'x', description: 'theirs' });
    expect(await stored('lost')).to.deep.equal({ name: 'f', sku: 'lost' });
  });

  it('gives the error of the store to the writes that it was about to try again', async () => {
    const id = await records.rival.insert({ name: 'Lamp', sku: SKU });
    records.before = async (name, count) => {
      if (name === 'replaceAll') await records.rival.change(id, { description: 'theirs' });
      if (name === 'findAllByUnique' && count === 2) throw unavailable('The store is away.');
    };
    expect(await writeAll([keyed(SKU, { name: 'mine' }), keyed('b', { name: 'b' })])).to.deep.equal([
      'unavailable',
      'created 1',
    ]);
  });

  it('writes many keys in one batch of each kind, whatever happens to them', async () => {
    for (const sku of ['change', 'same', 'delete']) await records.rival.insert({ name: 'Lamp', sku });
    expect(
      await writeAll([
        keyed('create', { name: 'New' }),
        keyed('change', { name: 'Torch' }),
        keyed('same', { name: 'Lamp' }),
        keyed('delete', {}, DELETION),
        keyed('none', {}, DELETION),
        keyed('invalid', { name: '' }),
        keyed('create 2', { name: 'New' }, { mustExist: true }),
      ]),
    ).to.deep.equal([
      ...['created 1', 'changed 2', 'unchanged 1', 'deleted', 'absent', 'validation_failed', 'not_found'],
    ]);
    expect(records.batches).to.have.deep.members([
      ['findAllByUnique', 7],
      ['insertAll', 1],
      ['replaceAll', 1],
      ['removeAll', 1],
      ['confirmAll', 1],
    ]);
  });

  it('looks a key up again for each of its writes, and sees the one before', async () => {
    const outcomes = await writeAll([
      keyed(SKU, { name: 'a' }),
      keyed('other', { name: 'a' }),
      keyed(SKU, { name: 'b' }, { precondition: { only: [1] }, mustExist: true }),
      keyed(SKU, { name: 'b' }),
      keyed(SKU, {}, DELETION),
      keyed('other', { name: 'c' }),
      keyed(SKU, { name: 'd' }),
    ]);
    expect(outcomes).to.deep.equal([
      ...['created 1', 'created 1', 'changed 2', 'unchanged 2', 'deleted', 'changed 2', 'created 1'],
    ]);
    const lookUps = records.batches.filter(([name]) => name === 'findAllByUnique');
    expect(lookUps.map(([, length]) => length)).to.deep.equal([2, 1, 1, 2, 1]);
  });

  it('gives on a unique value in the order of the writes, in one look-up', async () => {
    const [a, b, c] = [
      await records.rival.insert({ name: 'a', sku: 'a' }),
      await records.rival.insert({ name: 'b', sku: 'b' }),
      await records.rival.insert({ name: 'c', sku: 'c' }),
    ];
    const byId: Policy = { field: 'id', existing: 'merge' };
    const moves = [
      [keyed(a, { sku: 'x' }), keyed(b, { sku: 'a' }), keyed(c, { sku: 'b' })],
      [keyed(a, {}, DELETION), keyed(b, { sku: 'x' }), keyed(c, { sku: null })],
    ];
    // A deletion that ends last must still come first.
    records.before = async (name) => {
      if (name === 'removeAll') await new Promise((resolve) => setImmediate(resolve));
    };
    for (const writes of moves) {
      records.batches.length = 0;
      expect(await writeAll(writes, byId)).to.not.include.members(['duplicate_value']);
      expect(namesOf().filter((name) => name === 'findAllByUnique')).to.have.length(1);
    }
    expect([await stored('x'), await stored('a'), await stored('b')]).to.deep.equal([
      { name: 'b', sku: 'x' },
      undefined,
      undefined,
    ]);
  });

  it('names the record that has a value already, unless it has gone', async () => {
    const a = await records.rival.insert({ name: 'a', sku: 'a' });
    const b = await records.rival.insert({ name: 'b', sku: 'b' });
    const detailsOf = async () => {
      const policy: Policy = { field: 'id', existing: 'merge' };
      const [outcome] = await outcomesOf([keyed(b, { sku: 'a' })], policy);
      expect(outcome).to.include({ code: 'duplicate_value' });
      return (outcome as AppError).details.map(({ pointer, id }) => [pointer, id]);
    };
    expect(await detailsOf()).to.deep.equal([['/sku', a]]);
    records.batches.length = 0;
    records.before = async (name, count) => {
      // The record itself is found by its id.
      if (name === 'findAllByUnique' && count === 1) await records.rival.remove(a);
    };
    expect(await detailsOf()).to.deep.equal([['/sku', undefined]]);
  });

  it('loses no update of imports at once, and creates one record a key', async () => {
    const skus = upTo(40).map((n) => `sku-${n}`);
    const importers = ['a', 'b', 'c', 'd'];
    const outcomes = await Promise.all(
      importers.map((name) => writeAll(skus.map((sku) => keyed(sku, { name: 'x', attributes: { [name]: 1 } })))),
    );
    for (const [n, sku] of skus.entries()) {
      expect(outcomes.map((one) => one[n]).toSorted(), sku).to.deep.equal([
        ...['changed 2', 'changed 3', 'changed 4', 'created 1'],
      ]);
      expect((await stored(sku))?.attributes, sku).to.have.all.keys(...importers);
    }
  });

  it('passes on that the store is away', async () => {
    for (const failing of ['findAllByUnique', 'insertAll'] as const) {
      records.before = (name) => {
        if (name === failing) throw unavailable('The store is away.');
      };
      let error: unknown;
      await writeAll([keyed(SKU, { name: 'x' })]).catch((thrown) => (error = thrown));
      expect(error, failing).to.include({ code: 'unavailable' });
    }
    records.before = () => {};
    expect(await write(keyed(SKU, { name: 'x' }))).to.equal('created 1');
  });

  it('does nothing for no writes', async () => {
    expect(await writeAll([])).to.deep.equal([]);
    expect(records.batches).to.deep.equal([]);
  });

  it('lets other work run in between', async () => {
    const writes = upTo(320).map((n) => keyed(`sku-${n}`, { name: 'x' }));
    expect(await turnsOfOthers(() => writeAll(writes))).to.be.at.least(10);
  });
});
