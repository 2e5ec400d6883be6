import { expect } from 'chai';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { ChecksummedApiKey } from '#src/adapters/outbound/tokens/api-key-format.js';
import { FIRST_KEY_ID } from '#src/application/auth/key-administration.js';
import { type ApiKey, SCOPES } from '#src/domain/access.js';
import { expectRefusal } from '../support/expect-refusal.js';
import { keyAdministration } from '../support/key-administration.js';
import { LOCAL_STORES } from '../support/local-stores.js';
import { API_KEYS, ENDLESS } from '../support/tables.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('the first key of a store', () => {
  const folder = temporaryFolder();
  for (const [name, open] of LOCAL_STORES) {
    it(`is made once, by one of many that start together, and never again: ${name}`, async () => {
      const { apiKeys: keys, close } = await open(folder);
      const replica = () => keyAdministration(keys);
      await replica().create({ name: 'earlier, by hand', scopes: ['products:read'] });
      const format = new ChecksummedApiKey();
      const candidates = Array.from({ length: 20 }, () => format.generate());
      const made = await Promise.all(candidates.map((key) => replica().createFirst(key)));
      expect(made.filter(Boolean)).to.have.length(1);
      const winner = candidates[made.indexOf(true)] ?? '';
      expect(await replica().createFirst(winner), 'again, its outcome unknown').to.equal(true);
      expect((await keys.find(FIRST_KEY_ID))?.fields.scopes).to.deep.equal(SCOPES);
      await replica().revoke(FIRST_KEY_ID);
      for (const key of candidates) expect(await replica().createFirst(key)).to.equal(false);
      await close();
    });
  }

  it('is refused where it is given and not well-formed', async () => {
    const keys = new MemoryRepository<ApiKey>(API_KEYS, ENDLESS);
    await expectRefusal(keyAdministration(keys).createFirst('pcs_wrong'), 'validation_failed');
  });
});
