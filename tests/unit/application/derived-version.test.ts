import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { RECORD_TABLES, TABLES } from '#src/composition/tables.js';
import { DERIVED_DATA, withVersion } from '../../../scripts/derived-version.js';

const file = readFileSync(DERIVED_DATA, 'utf8');
const versionIn = (text: string) => Number(/VERSION = ([\d_]+);/.exec(text)?.[1]?.replaceAll('_', ''));

describe('the version of derived data', () => {
  it('is that of the tokenizer and of the field tables: npm run migration', () => {
    expect(file).to.equal(withVersion(file));
  });

  it('is 1 higher once a table is filtered or searched by another field', () => {
    const { products } = RECORD_TABLES;
    const { stock, ...fields } = products.fields;
    for (const table of [
      { ...products, fields },
      { ...products, searched: ['name'] },
    ]) {
      const changed = withVersion(file, [table]);
      expect(versionIn(changed)).to.equal(versionIn(file) + 1);
      expect(withVersion(changed, [table])).to.equal(changed);
    }
  });

  it('stays the same with a new table, which has no records', () => {
    const shelves = { ...RECORD_TABLES.users, name: 'shelves' };
    const more = withVersion(file, [...TABLES, shelves]);
    expect([versionIn(more), more.includes('// shelves: ')]).to.deep.equal([versionIn(file), true]);
  });
});
