import { expect } from 'chai';
import type { Reservation } from '#src/application/ports/idempotency-store.js';
import type { TestStore } from '../repository/test-store.js';
import { byKey, keysOf, reservation, reservations } from './reservations.js';

const WRITERS = 20;

export function racingContract(store: TestStore): void {
  const race = (batchOf: (writer: number) => readonly Reservation[]) =>
    Promise.all(Array.from({ length: WRITERS }, (_, writer) => store.reservations.reserve(batchOf(writer))));

  describe('concurrent reservations', () => {
    it('store exactly one, and return it to every writer', async () => {
      const results = await race((writer) => [reservation('a', { id: writer + 1, fields: `of ${writer}` })]);
      const existing = (await store.reservations.find(['a'])).get('a');
      expect(existing?.fields).to.equal(`of ${(existing?.id ?? 0) - 1}`);
      for (const response of results) expect([...response.values()]).to.deep.equal([existing]);
    });

    it('store exactly one of each key in a batch, and return the same to every writer', async () => {
      const batch = reservations(50);
      const results = await race((writer) =>
        // Each writer starts at another key.
        [...batch.slice(writer), ...batch.slice(0, writer)].map((one) => ({ ...one, fingerprint: `${writer}` })),
      );
      const existing = await store.reservations.find(keysOf(batch));
      expect(existing.size).to.equal(50);
      for (const response of results) expect(response).to.deep.equal(existing);
    });

    it('of different keys all succeed', async () => {
      const own = (writer: number) => [reservation(`k${writer}`, { id: writer + 1 })];
      const results = await race(own);
      results.forEach((response, writer) => {
        expect(response).to.deep.equal(byKey(own(writer)));
      });
    });
  });
}
