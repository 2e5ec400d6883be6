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
      const answers = await race((racer) => [reservation('a', { id: racer + 1, fields: `of ${racer}` })]);
      const stands = (await store.reservations.find(['a'])).get('a');
      expect(stands?.fields).to.equal(`of ${(stands?.id ?? 0) - 1}`);
      for (const answer of answers) expect([...answer.values()]).to.deep.equal([stands]);
    });

    it('with whole batches exactly one stands under each key, and all are told the same', async () => {
      const batch = reservations(50);
      const answers = await race((racer) =>
        // Each racer begins somewhere else.
        [...batch.slice(racer), ...batch.slice(0, racer)].map((one) => ({ ...one, fingerprint: `${racer}` })),
      );
      const standing = await store.reservations.find(keysOf(batch));
      expect(standing.size).to.equal(50);
      for (const answer of answers) expect(answer).to.deep.equal(standing);
    });

    it('for different keys none hinders another', async () => {
      const own = (racer: number) => [reservation(`k${racer}`, { id: racer + 1 })];
      const answers = await race(own);
      answers.forEach((answer, racer) => {
        expect(answer).to.deep.equal(byKey(own(racer)));
      });
    });
  });
}
