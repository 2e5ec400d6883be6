import { expect } from 'chai';
import { BatchImporter, type BatchImporterOptions } from '#src/adapters/inbound/http/import/batch-importer.js';
import type { WriteOutcome } from '#src/application/records/record-writer.js';
import { AppError } from '#src/domain/errors.js';
import type { MaybePromise } from '#src/shared/promises.js';
import { Task } from '#src/shared/task-scheduler.js';
import { RecordingLogger } from '../../../../../support/fakes.js';
import { turnsOfOthers } from '../../../../../support/turns.js';

const DONE: WriteOutcome<unknown> = { kind: 'absent' };

/** Accepts every record. */
const OPTIONS: BatchImporterOptions = {
  prepare: () => ({ draft: () => undefined }),
  writer: { startAll: async (writes) => writes.map(() => DONE) },
  showsVersions: false,
  shown: (error) => error,
  logger: new RecordingLogger(),
  ids: {},
  task: new Task('a'),
  takePlace: () => ({ release() {} }),
};

describe('BatchImporter', () => {
  const turnsFor = async (count: number, length: number) => {
    const importer = new BatchImporter({
      ...OPTIONS,
      prepare: () => {
        throw new AppError('validation_failed', 'The line is invalid.');
      },
    });
    const lines = Array.from({ length: count }, (_, at) => ({ number: at + 1, bytes: Buffer.alloc(length) }));
    return turnsOfOthers(async () => {
      const { results } = await importer.import(lines);
      expect((await results).trim().split('\n')).to.have.length(count);
    });
  };

  it('gives other work a turn after few long lines, or some short ones', async () => {
    expect(await turnsFor(20, 40_000)).to.be.at.least(20);
    expect(await turnsFor(20, 10)).to.be.below(10);
    expect(await turnsFor(256, 10)).to.be.at.least(8);
  });

  /** Imports a line after the other. @returns the status of each, and how often the access was checked */
  const importWith = async (...errors: (AppError | undefined)[]) => {
    let checks = 0;
    const lines = errors.length;
    const importer = new BatchImporter({
      ...OPTIONS,
      checkAccess: async () => {
        const error = errors[checks++];
        if (error) throw error;
      },
    });
    const statuses: number[] = [];
    for (let number = 1; number <= lines; number++) {
      const { results } = await importer.import([{ number, bytes: Buffer.from('{}') }]);
      statuses.push(JSON.parse(await results).status);
    }
    return { statuses, checks };
  };

  it('refuses all further lines of a client that has lost its access, without another check', async () => {
    const lost = new AppError('invalid_token', 'lost');
    expect(await importWith(undefined, lost, undefined)).to.deep.equal({ statuses: [204, 401, 401], checks: 2 });
  });

  it('goes on after the store was unavailable', async () => {
    const down = new AppError('unavailable', 'down');
    expect(await importWith(down, undefined)).to.deep.equal({ statuses: [503, 204], checks: 2 });
  });

  /** An importer whose places and outcomes the test gives. */
  const placedImporter = (takePlace: BatchImporterOptions['takePlace'], outcome: MaybePromise<WriteOutcome<unknown>>) =>
    new BatchImporter({ ...OPTIONS, writer: { startAll: async () => [outcome] }, takePlace });
  const LINE = [{ number: 1, bytes: Buffer.from('{}') }];

  it('holds a place until the outcome of each line is known, and not any longer', async () => {
    let held = 0;
    const takePlace = () => {
      held++;
      return { release: () => held-- };
    };
    await placedImporter(takePlace, DONE).import(LINE);
    expect(held).to.equal(0);
    let decide: (outcome: MaybePromise<WriteOutcome<unknown>>) => void = () => {};
    const undecided = new Promise<WriteOutcome<unknown>>((resolve) => (decide = resolve));
    const { results } = await placedImporter(takePlace, undecided).import(LINE);
    expect(held).to.equal(1);
    decide(DONE);
    await results;
    expect(held).to.equal(0);
  });

  it('refuses the lines of a batch that gets no place', async () => {
    const refuse = async () => {
      throw new AppError('unavailable', 'none is left');
    };
    const { results } = await placedImporter(refuse, DONE).import(LINE);
    expect(JSON.parse(await results)).to.deep.include({ line: 1, status: 503 });
  });
});
