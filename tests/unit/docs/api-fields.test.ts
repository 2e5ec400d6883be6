import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { ERRORS } from '#src/adapters/inbound/http/core/error-codes.js';
import { ISSUES } from '#src/adapters/inbound/http/core/issue-codes.js';
import { newDraft } from '#src/application/records/record-format.js';
import { DEFINITIONS } from '#src/composition/resources.js';
import { EXPIRING_TABLES, RESOURCE_TABLES, TABLES } from '#src/composition/tables.js';
import { SCOPES } from '#src/domain/access.js';
import { uniqueFields } from '#src/domain/fields.js';

const API = readFileSync('docs/reference/api.md', 'utf8');
const MONGODB = readFileSync('docs/how-to/mongodb.md', 'utf8');

const RESOURCES = Object.values(DEFINITIONS);
const rowsOf = (text: string) => text.split('\n').filter((line) => line.startsWith('|'));

/** The text from one phrase up to another, on one line. */
function between(text: string, start: string, end: string): string {
  const from = text.indexOf(start);
  expect(from, start).to.be.at.least(0);
  return text.slice(from, text.indexOf(end, from)).replaceAll(/\s+/g, ' ');
}

describe('docs/reference/api.md', () => {
  const filtering = between(API, 'You can filter by', 'Several filters');
  const sorting = between(API, 'You can sort by', 'Strings are ordered');

  for (const { path, fields, table, readOnlyFields, docs } of RESOURCES) {
    it(`has the path of ${docs.plural} in the table of paths`, () => {
      expect(rowsOf(API).some((row) => row.includes(`\`/v1/${path}\``))).to.equal(true);
    });

    it(`has every field of ${docs.plural} in a table of fields`, () => {
      const missing = Object.keys({ ...table, ...readOnlyFields }).filter(
        (name) => !rowsOf(API).some((row) => row.includes(`\`${name}\``)),
      );
      expect(missing).to.deep.equal([]);
    });

    it(`has every filter of ${docs.plural} in the sentence of filters`, () => {
      const named = Object.entries(fields).map(([name, { type }]) =>
        type === 'attributes' ? `${name}.…` : name,
      );
      const starts = RESOURCES.map((other) => filtering.indexOf(other.docs.plural)).filter((at) => at >= 0);
      const start = filtering.indexOf(docs.plural);
      const end = Math.min(filtering.length, ...starts.filter((at) => at > start));
      const clause = start < 0 ? '' : filtering.slice(start, end);
      expect(named.filter((name) => !clause.includes(`\`${name}\``))).to.deep.equal([]);
    });

    it(`has every sort field of ${docs.plural} in the sentence of sorting`, () => {
      const missing = Object.keys(fields).filter((name) => {
        if (!fields[name]?.required) return false;
        const [, users = ''] = new RegExp(`\`${name}\` \\(([^)]*)\\)`).exec(sorting) ?? [];
        return !users.split(', ').includes(docs.plural);
      });
      expect(missing).to.deep.equal([]);
    });
  }

  it('has every scope in the table of scopes', () => {
    expect(SCOPES.filter((scope) => !rowsOf(API).some((row) => row.includes(`\`${scope}\``)))).to.deep.equal(
      [],
    );
  });
});

describe('the texts of errors', () => {
  for (const { fields, docs } of RESOURCES)
    it(`name the unique fields of ${docs.plural}, in duplicate_value of error-codes.ts`, () => {
      for (const name of uniqueFields(fields))
        expect(ERRORS.duplicate_value.cause).to.include(`\`${name}\` of ${docs.plural}`);
    });

  for (const { fields, docs } of RESOURCES)
    it(`name the references of ${docs.plural}, in reference_not_found of issue-codes.ts`, () => {
      for (const [name, { reference }] of Object.entries(fields))
        if (reference)
          expect(ISSUES.reference_not_found.cause).to.include(`\`${name}\``).and.include(docs.singular);
    });
});

describe('the examples of resources', () => {
  for (const definition of RESOURCES)
    it(`are valid: ${definition.path}`, () => {
      expect(newDraft(definition as never, definition.example).issues).to.deep.equal([]);
    });
});

describe('docs/how-to/mongodb.md', () => {
  for (const { name, fields } of TABLES)
    it(`has the indexes of ${name} in the table of collections`, () => {
      const row = rowsOf(MONGODB).find((line) => line.startsWith(`| \`${name}\` |`)) ?? '';
      const listed = Object.keys(fields).filter((field) => fields[field]?.type !== 'attributes');
      expect(listed.filter((field) => !new RegExp(`[\`.]${field}\``).test(row))).to.deep.equal([]);
      const references = listed.filter((field) => fields[field]?.reference);
      expect(references.filter((field) => !row.includes(`\`live_${field}_-createdAt\``))).to.deep.equal([]);
    });

  it('has every collection of reservations in the table of collections', () => {
    const missing = RESOURCE_TABLES.filter(
      ({ name }) => !rowsOf(MONGODB).some((row) => row.includes(`\`${name}_reservations\``)),
    );
    expect(missing.map(({ name }) => name)).to.deep.equal([]);
  });

  it('has every collection whose tombstones expire in the sentence of ttl_deletedAt', () => {
    const [sentence = ''] = /[^.]*also have `ttl_deletedAt`/.exec(MONGODB) ?? [];
    expect(EXPIRING_TABLES.filter(({ name }) => !sentence.includes(`\`${name}\``))).to.deep.equal([]);
  });
});
