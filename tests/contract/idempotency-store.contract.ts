import { expect } from 'chai';
import type { Reservation } from '#src/application/ports/idempotency-store.js';
import type { TestStoreProvider } from '../stores/provider.js';
import { list } from '../support/list.js';
import { AT } from './repository/records.js';
import { byKey, keysOf, reservation, reservations } from './repository/reservations.js';
import { TestStore } from './repository/test-store.js';

const WRITERS = 20;

const KEYS = [
  ...list`$ne  $where  {"$gt":""}  a.b  .  %  _  *  ' OR 1=1 --  "  \  __proto__  constructor  null  0  00`,
  ...[' ', '~'.repeat(300)],
];

const FIELDS: Readonly<Record<string, string>> = {
  'an empty string': '',
  'a JSON null': 'null',
  'quotes and operators': `{"'":"\\"","$ne":"%_.*","a.b":";--"}`,
  Unicode: 'é e\u0301 😀 \u{10ffff} \ue000 \u2028',
  'a text of more than 1 MiB': JSON.stringify({ name: '"é😀'.repeat(130_000) }),
};

/** The tests that every idempotency store passes. */
export function idempotencyStoreContract(provider: TestStoreProvider): void {
  describe(`the idempotency store contract on ${provider.name}`, () => {
    const store = TestStore.forEachTest(provider);

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

    describe('the content of a reservation', () => {
      it('is found only under its literal key', async () => {
        for (const [at, key] of KEYS.entries()) {
          await store.reservations.reserve([reservation(key, { id: at + 1 })]);
          expect((await store.reservations.find(KEYS)).size).to.equal(at + 1);
        }
        const all = KEYS.map((key, at) => reservation(key, { id: at + 1 }));
        expect(await store.reservations.find(keysOf(all))).to.deep.equal(byKey(all));
        expect(await store.reservations.reserve(all)).to.deep.equal(byKey(all));
      });

      for (const [name, fields] of Object.entries(FIELDS))
        it(`keeps the fields unchanged: ${name}`, async () => {
          const all = byKey([reservation('a', { fields })]);
          await store.reservations.reserve([...all.values()]);
          expect((await store.reservations.find(['a'])).get('a')?.fields === fields).to.equal(true);
          expect(await store.reservations.reserve([reservation('a')])).to.deep.equal(all);
        });

      it('has no fields if none were given', async () => {
        for (const attempt of [1, 2]) {
          const existing = await store.reservations.reserve([reservation('a')]);
          expect(existing.get('a'), `attempt ${attempt}`).to.not.have.property('fields');
        }
        expect((await store.reservations.find(['a'])).get('a')).to.not.have.property('fields');
      });
    });
  });
}
