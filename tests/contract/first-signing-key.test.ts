import { join } from 'node:path';
import { expect } from 'chai';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/database.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/repository.js';
import { Rs256TokenSigner } from '#src/adapters/outbound/tokens/rs256-key.js';
import { SigningKeyAdministration } from '#src/application/auth/signing-key-administration.js';
import { SigningKeys } from '#src/application/auth/signing-keys.js';
import type { Repository } from '#src/application/ports/repository.js';
import type { SigningKey } from '#src/domain/signing-key.js';
import { FakeClock } from '../support/fakes.js';
import { ENDLESS, SIGNING_KEYS } from '../support/tables.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('the first signing key of a store', () => {
  const folder = temporaryFolder();
  const stores: Record<string, () => Promise<Repository<SigningKey>>> = {
    memory: async () => new MemoryRepository<SigningKey>(SIGNING_KEYS, ENDLESS),
    SQLite: async () => {
      const database = new SqliteDatabase(join(folder, 'keys.sqlite'));
      await database.open();
      return new SqliteRepository<SigningKey>(database, SIGNING_KEYS, ENDLESS);
    },
  };

  for (const [name, open] of Object.entries(stores)) {
    it(`is created once by concurrent replicas, which all sign with it: ${name}`, async () => {
      const [keys, signer, clock] = [await open(), new Rs256TokenSigner(), new FakeClock()];
      const administration = () => new SigningKeyAdministration({ keys, signer, clock });
      const replicas = Array.from(
        { length: 5 },
        () => new SigningKeys({ administration: administration(), signer, clock }),
      );
      const current = await Promise.all(replicas.map((replica) => replica.current()));
      const [first, ...others] = await administration().all();
      expect([first?.id, others]).to.deep.equal([1, []]);
      expect(current.map(({ kid }) => kid)).to.deep.equal(Array(5).fill(first?.fields.kid));
    });
  }
});
