import { expect } from 'chai';
import { ChecksummedApiKey } from '#src/adapters/outbound/tokens/api-key-format.js';
import { redactSecrets } from '#src/shared/redact.js';

describe('redactSecrets', () => {
  it('redacts every API key, also one that is truncated or percent-encoded', () => {
    const key = new ChecksummedApiKey().generate();
    const secret = key.slice(4);
    for (const text of [key, `a ${key}, "${key}"`, key.slice(0, 20), `/x/pcs%5F${secret}`, `PCS_${secret}`]) {
      expect(redactSecrets(text)).to.include('pcs_[secret]').and.not.include(secret.slice(0, 8));
    }
  });

  it('leaves other text unchanged', () => {
    for (const text of ['', 'a pcs_ of', 'pcs_[secret]', '{"path":"/api-keys/7"}'])
      expect(redactSecrets(text)).to.equal(text);
  });
});
