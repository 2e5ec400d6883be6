import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { UsageCount } from '#src/application/ports/usage-store.js';
import { isShared, type OpenStore, openStore, type TestStoreProvider } from '../stores/provider.js';
import { expectAppError } from '../support/expect-refusal.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { AT, product } from './repository/records.js';
import { reservation } from './repository/reservations.js';

/** The tests of a store whose data outlives the process. */
export function reopenedContract(provider: TestStoreProvider): void {
  describe(`what ${provider.name} keeps when it is closed and opened again`, () => {
    const folder = temporaryFolder();
    let store: OpenStore | undefined;
    afterEach(() => store?.close());

    it('is every record, tombstone, reserved id, reservation and count', async () => {
      const { settings, remove } = await provider.create(mkdtempSync(join(folder, 'store-')));
      const first = await openStore(settings);
      const id = await first.products.reserveIds(5);
      await first.products.insertAll([product(1), product(2)]);
      await first.products.removeAll([{ id: 2, expected: 1, at: AT }]);
      await first.reservations.products.reserve([reservation('a')]);
      const usage: UsageCount = { keyId: 1, hour: AT, counter: 'a', routes: [] };
      await first.usage.save([usage]);
      await first.close();
      const second = await openStore(settings);
      store = second;
      expect(await second.products.find(1)).to.deep.equal(product(1));
      expect(await second.products.insertAll([product(2)])).to.deep.equal(['id_conflict']);
      expect(await second.products.reserveIds(1)).to.equal(id + 5);
      expect((await second.reservations.products.find(['a'])).get('a')).to.deep.equal(reservation('a'));
      expect(await second.usage.find([1], AT)).to.deep.equal([usage]);
      if (!isShared(provider)) await expectAppError(openStore(settings), 'unavailable');
      await second.close();
      store = undefined;
      await remove();
    });
  });
}
