import { expect } from 'chai';
import type { Reservation } from '#src/application/ports/idempotency-store.js';
import type { Opened } from '../repository/opened.js';
import { byKey, keysOf, reservation, reservations } from './reservations.js';

const RACERS = 20;

export function racingContract(store: Opened): void {
  const race = (batchOf: (racer: number) => readonly Reservation[]) =>
    Promise.all(Array.from({ length: RACERS }, (_, racer) => store.reservations.reserve(batchOf(racer))));

  describe('of many that race', () => {
    it('exactly one stands, and all are told the same', async () => {
      const responses = await race((racer) => [reservation('a', { id: racer + 1, fields: `of ${racer}` })]);
      const existing = (await store.reservations.find(['a'])).get('a');
      expect(existing?.fields).to.equal(`of ${(existing?.id ?? 0) - 1}`);
      for (const response of responses) expect([...response.values()]).to.deep.equal([existing]);
    });

    it('with whole batches exactly one stands under each key, and all are told the same', async () => {
      const batch = reservations(50);
      const responses = await race((racer) =>
        // Each racer begins somewhere else.
        [...batch.slice(racer), ...batch.slice(0, racer)].map((one) => ({ ...one, fingerprint: `${racer}` })),
      );
      const existing = await store.reservations.find(keysOf(batch));
      expect(existing.size).to.equal(50);
      for (const response of responses) expect(response).to.deep.equal(existing);
    });

    it('for different keys none hinders another', async () => {
      const own = (racer: number) => [reservation(`k${racer}`, { id: racer + 1 })];
      const responses = await race(own);
      responses.forEach((response, racer) => {
        expect(response).to.deep.equal(byKey(own(racer)));
      });
    });
  });
}
