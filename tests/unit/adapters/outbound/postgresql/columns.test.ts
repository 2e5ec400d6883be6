import { expect } from 'chai';
import { TableWrites } from '#src/adapters/outbound/postgresql/columns.js';
import { RESOURCE_TABLES } from '#src/composition/tables.js';

describe('the statement that makes derived columns in PostgreSQL', () => {
  for (const table of RESOURCE_TABLES)
    it(`changes a row only if it still has the version from which they were made: ${table.name}`, () => {
      expect(new TableWrites(table).derive.text).to.match(/ WHERE id = c0 AND version = c1\b/);
    });
});
