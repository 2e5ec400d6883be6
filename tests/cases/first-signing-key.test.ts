import { expect } from 'chai';
import { Rs256TokenSigner } from '#src/adapters/outbound/tokens/rs256-key.js';
import { SigningKeys } from '#src/application/auth/signing-keys.js';
import { LOCAL_STORES } from '../stores/index.js';
import { openNew } from '../stores/provider.js';
import { FakeClock, RecordingLogger } from '../support/fakes.js';

/** Each makes a key of RSA, which takes long. */
const REPLICAS = 3;

describe('the first signing key of a store', () => {
  for (const store of LOCAL_STORES)
    it(`is created once by concurrent replicas, which all sign with it: ${store.name}`, async () => {
      const { signingKeys: keys, close } = await openNew(store);
      const [signer, clock] = [new Rs256TokenSigner(), new FakeClock()];
      const replica = () => new SigningKeys({ keys, signer, clock, logger: new RecordingLogger() });
      const replicas = Array.from({ length: REPLICAS }, replica);
      const current = await Promise.all(replicas.map((replica) => replica.current()));
      const [first, ...others] = await replica().phased();
      expect([first?.key.id, others]).to.deep.equal([1, []]);
      expect(current.map(({ kid }) => kid)).to.deep.equal(Array(REPLICAS).fill(first?.key.fields.kid));
      await close();
    });
});
