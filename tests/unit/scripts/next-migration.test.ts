import { expect } from 'chai';
import { RECORD_TABLES } from '#src/composition/tables.js';
import { type FieldTable, indexedFields } from '#src/domain/fields.js';
import { ONE_LINE, ONE_LINE_CHARACTERS } from '#src/domain/text.js';
import { nextStep, surplus, withStep } from '../../../scripts/next-migration.js';

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

/** The step that a table needs to have these fields too. */
function stepFor(name: string, fields: FieldTable, searched: string[] = []): string {
  const known = Object.values(RECORD_TABLES).find((one) => one.name === name);
  const table = known ?? { name, fields: {}, firstId: 1, searched };
  return nextStep([{ ...table, fields: { ...table.fields, ...indexedFields(fields) } }]);
}

describe('the migrations of SQLite', () => {
  it('make every column and index that the field tables demand: npm run migration', () => {
    expect(nextStep()).to.equal('');
  });

  it('make no column and no index of a field that is not there', () => {
    expect(surplus()).to.deep.equal([]);
    const { products } = RECORD_TABLES;
    const { name, ...fields } = products.fields;
    expect(surplus([{ ...products, fields }])).to.deep.equal(['products.name', 'products_name']);
  });
});

describe('the next step', () => {
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
          depth: {
            description: '',
            kind: 'integer',
            min: 0,
            max: 9,
            example: 1,
            required: true,
            indexed: true,
          },
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
      "INSERT INTO derived VALUES ('shelves', 0, 0, 0);",
    ]);
  });

  it('creates the table of the values of a first list by which clients filter, and only of the first', () => {
    const list = { description: '', kind: 'list', of: TEXT, min: 0, max: 9, indexed: true } as const;
    expect(stepFor('orders', { marks: list, more: list })).to.equal(
      `CREATE TABLE orders_values (
  field TEXT NOT NULL,
  value ANY NOT NULL,
  id INTEGER NOT NULL,
  PRIMARY KEY (field, value, id)
) STRICT, WITHOUT ROWID;`,
    );
    expect(stepFor('products', { marks: list })).to.equal('');
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
