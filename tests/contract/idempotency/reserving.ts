import { expect } from 'chai';
import type { Reservation } from '#src/application/ports/idempotency-store.js';
import { AT } from '../repository/records.js';
import type { TestStore } from '../repository/test-store.js';
import { byKey, keysOf, reservation, reservations } from './reservations.js';

export function reservingContract(store: TestStore): void {
  describe('reserve and find', () => {
    it('store each reservation under its key, and return it unchanged', async () => {
      const all = [
        reservation('a', { id: Number.MAX_SAFE_INTEGER, fields: '{"name":"Lamp"}' }),
        reservation('b', { id: 1, reservedAt: AT + 1 }),
      ];
      expect(await store.reservations.reserve(all)).to.deep.equal(byKey(all));
      expect(await store.reservations.find(['b', 'a'])).to.deep.equal(byKey(all));
    });

    it('return nothing for an unused key', async () => {
      await store.reservations.reserve([reservation('a')]);
      expect(await store.reservations.find(['b'])).to.deep.equal(new Map());
      expect(await store.reservations.find(['b', 'a', 'A', 'a '])).to.deep.equal(byKey([reservation('a')]));
    });

    it('accept an empty list', async () => {
      expect(await store.reservations.reserve([])).to.deep.equal(new Map());
      expect(await store.reservations.find([])).to.deep.equal(new Map());
    });

    it('never change an existing reservation, and return it to later callers', async () => {
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

    it('return the existing reservation of each used key in a batch, and reserve the others', async () => {
      const old = reservations(5, { fingerprint: 'old' });
      await store.reservations.reserve(old);
      const batch = reservations(10, { fingerprint: 'new' }).reverse();
      const existing = [...old, ...batch.filter(({ id }) => id > 5)];
      expect(await store.reservations.reserve(batch)).to.deep.equal(byKey(existing));
      expect(await store.reservations.find(keysOf(batch))).to.deep.equal(byKey(existing));
    });

    it('accept a thousand keys at once, half of them in use', async () => {
      const old = reservations(500, { fingerprint: 'old' });
      await store.reservations.reserve(old);
      const batch = reservations(1_000, { fingerprint: 'new' });
      const existing = [...old, ...batch.slice(500)];
      expect(await store.reservations.reserve(batch)).to.deep.equal(byKey(existing));
      expect(await store.reservations.find(keysOf(batch))).to.deep.equal(byKey(existing));
    });

    it('accept several keys with one id', async () => {
      const all = [reservation('a', { id: 1 }), reservation('b', { id: 1 })];
      expect(await store.reservations.reserve(all)).to.deep.equal(byKey(all));
    });

    it('separate the reservations of each resource', async () => {
      const { products, users, orders } = store.all.reservations;
      const all = [products, users, orders].map((kind, i) => ({ kind, own: reservation('a', { id: i + 1 }) }));
      for (const { kind, own } of all) expect(await kind.reserve([own])).to.deep.equal(byKey([own]));
      for (const { kind, own } of all) expect(await kind.find(['a'])).to.deep.equal(byKey([own]));
    });

    it('do not use up an id', async () => {
      await store.reservations.reserve([reservation('a', { id: 1 })]);
      expect(await store.products.findUsedIds([1])).to.deep.equal(new Set());
      await store.add(1);
    });
  });

  describe('copies', () => {
    type Changeable = { -readonly [Name in keyof Reservation]: Reservation[Name] };

    it('are made of the arguments at the call', async () => {
      const [one, two]: [Changeable, Changeable] = [reservation('a'), reservation('b')];
      const batch = [one, two];
      const reserved = store.reservations.reserve(batch);
      one.id = 8;
      batch.pop();
      expect(await reserved).to.deep.equal(byKey([reservation('a'), reservation('b')]));
      two.fingerprint = 'changed';
      expect(await store.reservations.find(['a', 'b'])).to.deep.equal(byKey([reservation('a'), reservation('b')]));
    });

    it('are returned, so a caller cannot change the stored reservations', async () => {
      const results = [
        await store.reservations.reserve([reservation('a')]),
        await store.reservations.reserve([reservation('a', { id: 8 })]),
        await store.reservations.find(['a']),
      ];
      for (const response of results) {
        const one = response.get('a') as Changeable;
        one.id = 9;
        (response as Map<string, Reservation>).clear();
      }
      expect(await store.reservations.find(['a'])).to.deep.equal(byKey([reservation('a')]));
    });
  });
}
