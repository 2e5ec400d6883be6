import { expect } from 'chai';
import { memoryStorage } from '#src/adapters/outbound/memory/storage.js';
import type { StoredTable } from '#src/application/ports/table-store.js';
import { ENDLESS, TABLES } from '../../../../support/tables.js';

describe('the feeds in memory', () => {
  it('have the changes of the tables with a feed, and keep none of others', async () => {
    const { feedState, table } = memoryStorage({ budget: ENDLESS });
    await feedState.turnOn();
    const hasChange = async (of: StoredTable) => {
      const { records, changes } = table(of);
      const place = await changes.end().catch(() => undefined);
      await records.insertAll([{ id: 1, version: 1, createdAt: 0, updatedAt: 0, fields: {} }]);
      return place !== undefined && (await changes.read(place, 10))?.changes.length === 1;
    };
    for (const of of TABLES) expect(await hasChange(of), of.name).to.equal(of.hasFeed);
  });
});
