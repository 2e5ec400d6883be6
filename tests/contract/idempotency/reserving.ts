import { expect } from 'chai';
import type { Reservation } from '#src/application/ports/idempotency-store.js';
import type { Opened } from '../repository/opened.js';
import { AT } from '../repository/records.js';
import { byKey, keysOf, reservation, reservations } from './reservations.js';

export function reservingContract(store: Opened): void {
  describe('reserve and find', () => {
    it('puts each reservation under its key, and brings it back whole', async () => {
      const all = [
        reservation('a', { id: Number.MAX_SAFE_INTEGER, fields: '{"name":"Lamp"}' }),
        reservation('b', { id: 1, reservedAt: AT + 1 }),
      ];
      expect(await store.reservations.reserve(all)).to.deep.equal(byKey(all));
      expect(await store.reservations.find(['b', 'a'])).to.deep.equal(byKey(all));
    });

    it('knows nothing under a key that was never used', async () => {
      await store.reservations.reserve([reservation('a')]);
      expect(await store.reservations.find(['b'])).to.deep.equal(new Map());
      expect(await store.reservations.find(['b', 'a', 'A', 'a '])).to.deep.equal(byKey([reservation('a')]));
    });

    it('does nothing with nothing', async () => {
      expect(await store.reservations.reserve([])).to.deep.equal(new Map());
      expect(await store.reservations.find([])).to.deep.equal(new Map());
    });

    it('never changes what stands, and tells it to whoever comes later', async () => {
      const first = reservation('a', { id: 1, fields: 'first' });
      await store.reservations.reserve([first]);
      for (const later of [
        reservation('a', { id: 2, fields: 'second' }),
        reservation('a', { fingerprint: 'another', reservedAt: AT + 1_000 }),
      ]) {
        expect(await store.reservations.reserve([later])).to.deep.equal(byKey([first]));
        expect(await store.reservations.find(['a'])).to.deep.equal(byKey([first]));
      }
    });

    it('tells of each key in a batch what stands there: some were in use, and stop no other', async () => {
      const old = reservations(5, { fingerprint: 'old' });
      await store.reservations.reserve(old);
      const batch = reservations(10, { fingerprint: 'new' }).reverse();
      const existing = [...old, ...batch.filter(({ id }) => id > 5)];
      expect(await store.reservations.reserve(batch)).to.deep.equal(byKey(existing));
      expect(await store.reservations.find(keysOf(batch))).to.deep.equal(byKey(existing));
    });

    it('takes a thousand at once, half of them in use', async () => {
      const old = reservations(500, { fingerprint: 'old' });
      await store.reservations.reserve(old);
      const batch = reservations(1_000, { fingerprint: 'new' });
      const existing = [...old, ...batch.slice(500)];
      expect(await store.reservations.reserve(batch)).to.deep.equal(byKey(existing));
      expect(await store.reservations.find(keysOf(batch))).to.deep.equal(byKey(existing));
    });

    it('lets many keys name one id', async () => {
      const all = [reservation('a', { id: 1 }), reservation('b', { id: 1 })];
      expect(await store.reservations.reserve(all)).to.deep.equal(byKey(all));
    });

    it('keeps the reservations of each resource apart', async () => {
      const { products, users, orders } = store.all.reservations;
      const all = [products, users, orders].map((kind, i) => ({
        kind,
        own: reservation('a', { id: i + 1 }),
      }));
      for (const { kind, own } of all) expect(await kind.reserve([own])).to.deep.equal(byKey([own]));
      for (const { kind, own } of all) expect(await kind.find(['a'])).to.deep.equal(byKey([own]));
    });

    it('takes no id by reserving it', async () => {
      await store.reservations.reserve([reservation('a', { id: 1 })]);
      expect(await store.products.findUsedIds([1])).to.deep.equal(new Set());
      await store.add(1);
    });
  });

  describe('its copies', () => {
    type Changeable = { -readonly [Name in keyof Reservation]: Reservation[Name] };

    it('are its own, from the moment of the call', async () => {
      const [one, two]: [Changeable, Changeable] = [reservation('a'), reservation('b')];
      const batch = [one, two];
      const reserved = store.reservations.reserve(batch);
      one.id = 8;
      batch.pop();
      expect(await reserved).to.deep.equal(byKey([reservation('a'), reservation('b')]));
      two.fingerprint = 'changed';
      expect(await store.reservations.find(['a', 'b'])).to.deep.equal(
        byKey([reservation('a'), reservation('b')]),
      );
    });

    it('are given out: changing what came out changes nothing kept', async () => {
      const responses = [
        await store.reservations.reserve([reservation('a')]),
        await store.reservations.reserve([reservation('a', { id: 8 })]),
        await store.reservations.find(['a']),
      ];
      for (const response of responses) {
        const one = response.get('a') as Changeable;
        one.id = 9;
        (response as Map<string, Reservation>).clear();
      }
      expect(await store.reservations.find(['a'])).to.deep.equal(byKey([reservation('a')]));
    });
  });
}
