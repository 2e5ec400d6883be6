import { expect } from 'chai';
import type { ResourceDefinition } from '#src/adapters/inbound/http/core/resource-definition.js';
import { DEFINITIONS } from '#src/composition/resources.js';

/** The kinds of values for which generated clients have types of their own. */
const KINDS = ['object', 'choice'];

describe('the schemas of parts', () => {
  for (const { path, table, docs } of Object.values<ResourceDefinition<never>>(DEFINITIONS as never))
    it(`have names: schemaNames of ${path}`, () => {
      const parts = Object.keys(table).filter((name) => {
        const field = table[name];
        return KINDS.includes((field?.kind === 'list' ? field.of : field)?.kind ?? '');
      });
      expect(Object.keys(docs.schemaNames ?? {})).to.include.members(parts);
    });
});
