import { forEach } from '../../shared/promises.js';
import { BACKGROUND } from '../../shared/task-scheduler.js';
import type { Logger } from '../ports/logger.js';
import type { SearchIndex } from '../ports/search-index.js';

const BATCH = 250;
/** The log says how far it has come after this many records. */
const PROGRESS = 100_000;

const BEGUN = 'indexing the words of records; searches are slower until this is done';
const DONE = 'words of records indexed';

/** Makes the indexes of records current, in batches, while the service runs. */
export class SearchIndexing {
  constructor(
    private readonly indexes: readonly SearchIndex[],
    private readonly logger: Pick<Logger, 'info'>,
  ) {}

  /**
   * @param isOver called between two batches; the work ends if it returns true, and goes on at the next call
   * @throws AppError `unavailable`
   */
  async run(isOver: () => boolean = () => false): Promise<void> {
    await forEach(this.indexes, (index) => this.runOne(index, isOver));
  }

  private async runOne(index: SearchIndex, isOver: () => boolean): Promise<void> {
    const { name: table } = index;
    let indexed = 0;
    while (!isOver()) {
      const count = await index.indexNext(BATCH);
      if (count === 0) break;
      if (indexed === 0) this.logger.info(BEGUN, { table });
      if (Math.floor((indexed + count) / PROGRESS) > Math.floor(indexed / PROGRESS))
        this.logger.info(DONE, { table, records: indexed + count });
      indexed += count;
      await BACKGROUND.yield();
    }
    if (indexed > 0) this.logger.info(DONE, { table, records: indexed });
  }
}
