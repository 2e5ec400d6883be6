import { expect } from 'chai';
import { list } from '../../support/list.js';
import type { TestStore } from '../repository/test-store.js';
import { byKey, keysOf, reservation } from './reservations.js';

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

export function contentContract(store: TestStore): void {
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

    for (const [name, fields] of Object.entries(FIELDS)) {
      it(`keeps the fields unchanged: ${name}`, async () => {
        const all = byKey([reservation('a', { fields })]);
        await store.reservations.reserve([...all.values()]);
        expect((await store.reservations.find(['a'])).get('a')?.fields === fields).to.equal(true);
        expect(await store.reservations.reserve([reservation('a')])).to.deep.equal(all);
      });
    }

    it('has no fields if none were given', async () => {
      for (const attempt of [1, 2]) {
        const existing = await store.reservations.reserve([reservation('a')]);
        expect(existing.get('a'), `attempt ${attempt}`).to.not.have.property('fields');
      }
      expect((await store.reservations.find(['a'])).get('a')).to.not.have.property('fields');
    });
  });
}
