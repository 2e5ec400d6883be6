import { expect } from 'chai';
import { RECORD_TABLES } from '#src/composition/tables.js';
import { type FieldTable, indexedFields } from '#src/domain/fields.js';
import { ONE_LINE, ONE_LINE_CHARACTERS } from '#src/domain/text.js';
import { nextStep, SQL_STORES, type SqlStore, surplus, withStep } from '../../../scripts/next-migration.js';

const TEXT = {
  description: '',
  kind: 'text',
  min: 1,
  max: 9,
  allowed: ONE_LINE,
  characters: ONE_LINE_CHARACTERS,
  example: 'x',
  indexed: true,
} as const;

/** The step that a table of a store needs to have these fields too. */
function stepIn(store: SqlStore, name: string, fields: FieldTable, searched: string[] = []): string {
  const known = Object.values(RECORD_TABLES).find((one) => one.name === name);
  const table = known ?? { ...RECORD_TABLES.users, name, fields: {}, searched };
  return nextStep(store, [{ ...table, fields: { ...table.fields, ...indexedFields(fields) } }]);
}

const { SQLite, PostgreSQL } = SQL_STORES;
const LIST = {
  marks: { description: '', kind: 'list', of: TEXT, min: 0, max: 9, indexed: true },
} as const satisfies FieldTable;

for (const [name, store] of Object.entries(SQL_STORES))
  describe(`the migrations of ${name}`, () => {
    it('make every column and index that the field tables demand: npm run migration', () => {
      expect(nextStep(store)).to.equal('');
    });

    it('make no column and no index of a field that is not there', () => {
      expect(surplus(store)).to.deep.equal([]);
      const { products } = RECORD_TABLES;
      const { name, ...fields } = products.fields;
      expect(surplus(store, [{ ...products, fields }])).to.deep.equal(['products.name', 'products_name']);
    });
  });

describe('the next step of PostgreSQL', () => {
  const stepFor = stepIn.bind(undefined, PostgreSQL);

  it('adds the columns and indexes of new fields', () => {
    expect(
      stepFor('orders', {
        code: { ...TEXT, unique: true, ignoresCase: true },
        page: { ...TEXT, indexed: 'presence' },
        productId: { description: '', kind: 'reference', to: 'products', indexed: true },
      }),
    ).to.equal(`ALTER TABLE orders ADD COLUMN "code" text COLLATE "C";
ALTER TABLE orders ADD COLUMN "code folded" text COLLATE "C";
ALTER TABLE orders ADD COLUMN "page" boolean;
ALTER TABLE orders ADD COLUMN "productId" bigint;
CREATE INDEX "orders_code" ON orders ("code", id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX "orders_code_folded" ON orders ("code folded") WHERE deleted_at IS NULL;
CREATE INDEX "orders_productId" ON orders ("productId", id) WHERE deleted_at IS NULL;
CREATE INDEX "orders_productId_created_at" ON orders ("productId", created_at DESC, id) WHERE deleted_at IS NULL;`);
  });

  it('gives a list an index of its own, and the first one the table of its values', () => {
    const of = (table: string) => `ALTER TABLE ${table} ADD COLUMN "marks" text[] COLLATE "C";
CREATE INDEX "${table}_marks" ON ${table} USING gin ("marks") WHERE deleted_at IS NULL;`;
    expect(stepFor('products', LIST)).to.equal(of('products'));
    expect(stepFor('orders', LIST)).to.equal(`${of('orders')}
CREATE TABLE orders_values (
  field text COLLATE "C",
  value text COLLATE "C",
  id bigint,
  PRIMARY KEY (field, value, id)
);`);
  });

  it('makes another index for a field that has become unique', () => {
    expect(stepFor('products', { name: { ...TEXT, required: true, unique: true } })).to.equal(
      `DROP INDEX "products_name";
CREATE UNIQUE INDEX "products_name" ON products ("name") WHERE deleted_at IS NULL;`,
    );
  });
});

describe('the next step of SQLite', () => {
  const stepFor = stepIn.bind(undefined, SQLite);

  it('adds the columns and indexes of new fields', () => {
    expect(stepFor('products', { shade: TEXT })).to.equal(
      `ALTER TABLE products ADD COLUMN "shade" TEXT;
CREATE INDEX products_shade ON products ("shade") WHERE "shade" IS NOT NULL;`,
    );
    const box: FieldTable = {
      box: {
        description: '',
        kind: 'object',
        required: true,
        fields: {
          depth: { description: '', kind: 'integer', min: 0, max: 9, example: 1, required: true, indexed: true },
        },
      },
    };
    expect(stepFor('orders', box)).to.equal(
      `ALTER TABLE orders ADD COLUMN "box.depth" INTEGER;
CREATE INDEX orders_box_depth ON orders ("box.depth");`,
    );
    expect(stepFor('orders', { code: { ...TEXT, unique: true, ignoresCase: true } })).to.equal(
      `ALTER TABLE orders ADD COLUMN "code" TEXT;
ALTER TABLE orders ADD COLUMN "code folded" TEXT;
CREATE INDEX orders_code ON orders ("code") WHERE "code" IS NOT NULL;
CREATE UNIQUE INDEX orders_code_folded ON orders ("code folded") WHERE "code folded" IS NOT NULL;`,
    );
  });

  it('makes another index for a field that has become unique', () => {
    expect(stepFor('products', { name: { ...TEXT, required: true, unique: true } })).to.equal(
      `DROP INDEX products_name;
CREATE UNIQUE INDEX products_name ON products ("name");`,
    );
  });

  it('creates a new table with its words', () => {
    const lines = stepFor('shelves', { name: { ...TEXT, required: true } }, ['name']).split('\n');
    expect(lines[0]).to.equal('CREATE TABLE shelves (');
    expect(lines).to.include.members([
      '  "name" TEXT,',
      'CREATE INDEX shelves_name ON shelves ("name");',
      'CREATE INDEX shelves_created_at ON shelves (created_at);',
      `INSERT INTO derived VALUES ('shelves', \${DERIVED_VERSION}, 0, 0);`,
    ]);
  });

  it('creates the table of the values of a first list by which clients filter, and only of the first', () => {
    expect(stepFor('orders', { ...LIST, more: LIST.marks })).to.equal(
      `CREATE TABLE orders_values (
  field TEXT NOT NULL,
  value ANY NOT NULL,
  id INTEGER NOT NULL,
  PRIMARY KEY (field, value, id)
) STRICT, WITHOUT ROWID;`,
    );
    expect(stepFor('products', LIST)).to.equal('');
  });

  it('makes nothing for a field of which only the presence counts', () => {
    expect(stepFor('orders', { page: { ...TEXT, indexed: 'presence' } })).to.equal('');
  });

  it('is appended behind the released ones', () => {
    const file = 'MIGRATIONS: readonly Migration[] = [\n  `\n  A;\n  `,\n];\nmore [\n];\n';
    expect(withStep(file, 'B;\nC;')).to.equal(
      'MIGRATIONS: readonly Migration[] = [\n  `\n  A;\n  `,\n  `\n  B;\n  C;\n  `,\n];\nmore [\n];\n',
    );
  });
});
