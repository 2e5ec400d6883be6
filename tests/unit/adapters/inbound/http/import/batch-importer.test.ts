import { expect } from 'chai';
import { BatchImporter } from '#src/adapters/inbound/http/import/batch-importer.js';
import { AppError } from '#src/domain/errors.js';
import { RecordingLogger } from '../../../../../support/fakes.js';

describe('BatchImporter', () => {
  const turnsFor = async (count: number, length: number) => {
    let turns = 0;
    let isOver = false;
    const countTurns = () => {
      turns++;
      if (!isOver) setImmediate(countTurns);
    };
    setImmediate(countTurns);
    const importer = new BatchImporter<unknown>({
      service: { draft: () => Promise.reject(new Error('unused')) as never, createAll: async () => [] },
      parse: () => {
        throw new AppError('validation_failed', 'The line is invalid.');
      },
      key: undefined,
      bodyLimitBytes: 1_048_576,
      logger: new RecordingLogger(),
      ids: {},
      client: 'a',
    });
    const bytes = Buffer.alloc(length);
    const results = await importer.import(
      Array.from({ length: count }, (_, at) => ({ number: at + 1, bytes })),
    );
    isOver = true;
    expect(results.trim().split('\n')).to.have.length(count);
    return turns;
  };

  it('gives other work a turn after few long lines, or some short ones', async () => {
    expect(await turnsFor(20, 40_000)).to.be.at.least(20);
    expect(await turnsFor(20, 10)).to.be.below(10);
    expect(await turnsFor(256, 10)).to.be.at.least(8);
  });
});
