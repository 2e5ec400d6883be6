import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { DRIVER_THREADS } from '#src/adapters/outbound/sqlite/connection/readers.js';
import { temporaryFolder } from '../../../../../support/temporary-folder.js';

describe('the connections to SQLite', () => {
  const store = new SqliteDatabase(join(temporaryFolder(), 'catalogue.db'));
  const pools = () => Object.fromEntries(store.pools().map(({ pool, ...figures }) => [pool, figures]));
  after(() => store.close());

  it('tell how many are used, idle and waited for', async () => {
    expect(store.pools()).to.deep.equal([]);
    await store.open();
    const rest = { used: 0, waiting: 0, timeouts: 0 };
    expect(pools()).to.deep.equal({
      writer: { ...rest, idle: 1, max: 1 },
      readers: { ...rest, idle: 0, max: 16 },
      threads: { ...rest, idle: 0, max: DRIVER_THREADS },
    });
    const writes = [store.write(() => 1), store.write(() => 2)];
    expect(pools()['writer']).to.include({ used: 1, idle: 0, waiting: 2 });
    await Promise.all(writes);
    expect(pools()['writer']).to.include({ used: 0, idle: 1, waiting: 0 });
    await store.inSnapshot(async () => {
      expect(pools()['readers']).to.include({ used: 1, idle: 0 });
    });
    expect(pools()['readers']).to.include({ used: 0, idle: 1 });
  });
});
