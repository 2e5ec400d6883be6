import { expect } from 'chai';
import type { Statements } from '#src/adapters/outbound/sqlite/connection/database.js';
import { RecordRows } from '#src/adapters/outbound/sqlite/records/record-rows.js';
import type { Product } from '#src/domain/product.js';
import { product } from '../../../../../contract/repository/records.js';
import { PRODUCTS } from '../../../../../support/tables.js';

/** Indexed fields of a product, each with another value. */
const CHANGES: Partial<Product> = {
  name: 'other',
  sku: 'other',
  status: 'draft',
  brand: 'other',
  gtin: '4006381333931',
  group: 'other',
  stock: 1,
  price: { amount: 1, currency: 'EUR' },
};

describe('an UPDATE of SQLite', () => {
  /** @returns the columns that SET names */
  const namedBy = (changes: Partial<Product>, before: Partial<Product> = {}): string[] => {
    let text = '';
    const statement = ((sql: string) => {
      text = sql;
      return { run: () => ({ changes: 0 }) };
    }) as unknown as Statements;
    const record = product(1, { ...before, ...changes });
    new RecordRows(PRODUCTS).replace(statement, record, product(1, before).fields, 1, null);
    return [...text.matchAll(/(\S+) = \?(?=, | *\n)/g)].map(([, name]) => name ?? '');
  };
  const ALWAYS = ['record_version', 'updated_at', 'change', 'fields'];
  const fieldsNamedBy = (...args: Parameters<typeof namedBy>) =>
    namedBy(...args).filter((name) => !ALWAYS.includes(name));

  it('names the columns whose value changes, and no other, so that SQLite leaves their indexes alone', () => {
    expect(namedBy({ stock: 1 }, { stock: 2, ...CHANGES })).to.include.members(ALWAYS);
    expect(fieldsNamedBy({ stock: 7 }, CHANGES)).to.deep.equal(['"stock"']);
    expect(fieldsNamedBy({ price: { amount: 7, currency: 'EUR' } }, CHANGES)).to.deep.equal(['"price.amount"']);
    expect(fieldsNamedBy({ description: 'new', attributes: { a: 1 } }, CHANGES)).to.deep.equal([]);
    expect(fieldsNamedBy({ price: { amount: 1, currency: 'EUR' } })).to.deep.equal([
      '"price.amount"',
      '"price.currency"',
    ]);
  });

  it('has few texts, however many fields change', () => {
    const texts = new Set<string>();
    const names = Object.keys(CHANGES) as (keyof Product)[];
    for (let bits = 0; bits < 2 ** names.length; bits++) {
      const some = names.filter((_, at) => bits & (1 << at));
      texts.add(namedBy(Object.fromEntries(some.map((name) => [name, CHANGES[name]]))).join());
    }
    expect(texts.size).to.be.within(10, 50);
  });
});
