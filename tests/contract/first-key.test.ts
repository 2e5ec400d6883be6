import { expect } from 'chai';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { newApiKey } from '#src/adapters/outbound/system/random.js';
import { FIRST_KEY_ID } from '#src/application/auth/api-keys.js';
import { SCOPES } from '#src/domain/access.js';
import type { ApiKey } from '#src/domain/api-key.js';
import { LOCAL_STORES } from '../stores/index.js';
import { openNew } from '../stores/provider.js';
import { expectAppError } from '../support/expect-refusal.js';
import { apiKeyService } from '../support/key-administration.js';
import { API_KEYS, ENDLESS } from '../support/tables.js';

describe('the first key of a store', () => {
  for (const store of LOCAL_STORES)
    it(`is created once by concurrent first starts, and never again: ${store.name}`, async () => {
      const { apiKeys: keys, close } = await openNew(store);
      const replica = () => apiKeyService(keys);
      await replica().create({ name: 'earlier, by hand', scopes: ['products:read'] });
      const candidates = Array.from({ length: 20 }, newApiKey);
      const outcomes = await Promise.all(candidates.map((key) => replica().createFirst(key)));
      expect(outcomes.filter(Boolean)).to.have.length(1);
      const winner = candidates[outcomes.indexOf(true)] ?? '';
      expect(await replica().createFirst(winner), 'a retry succeeds').to.equal(true);
      expect((await keys.find(FIRST_KEY_ID))?.fields.scopes).to.deep.equal(SCOPES);
      await replica().revoke(FIRST_KEY_ID);
      for (const key of candidates) expect(await replica().createFirst(key)).to.equal(false);
      await close();
    });

  it('is rejected if it is not well-formed', async () => {
    const keys = new MemoryRepository<ApiKey>(API_KEYS, ENDLESS);
    await expectAppError(apiKeyService(keys).createFirst('pcs_wrong'), 'validation_failed');
  });
});
