import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { newDraft } from '#src/application/records/record-format.js';
import { DEFINITIONS } from '#src/composition/resources.js';
import { blocksOf, PAGES_WITH_TABLES, withTables } from '../../../scripts/field-tables.js';

for (const [page, blocks] of Object.entries(PAGES_WITH_TABLES))
  describe(page, () => {
    const text = readFileSync(page, 'utf8');

    it('has the generated blocks', () => {
      expect(blocksOf(text)).to.have.members(blocks);
    });

    it('has in them the output of npm run docs', () => {
      expect(text).to.equal(withTables(text));
    });
  });

describe('the generated blocks', () => {
  const outputOf = (name: string) =>
    withTables(`<!-- generated: ${name} -->\nold\n<!-- end of generated -->\n`).split('\n');

  it('have a row for each collection, with its fields and what lists do with them', () => {
    const rows = outputOf('fields');
    expect(rows).to.include(
      '| users | `name` (required), `email` (required, unique, ignoring case) | `name`, `email` | `name`, `email` | | |',
    );
    expect(rows.join('\n')).to.match(/\| products \| .*`price`, .* \|.*`price\.amount`.*\| `images`, `url` \|/);
    expect(rows.join('\n')).to.match(/\| API keys \| .*`createdBy` \(read-only\)/);
  });

  it('have a row for each collection, with its scopes', () => {
    expect(outputOf('scopes')).to.include.members([
      '| `/v1/products`: products | `products:read` | `products:write` | `products:write` and `products:read` |',
      '| `/v1/api-keys`: API keys | `keys:admin` | `keys:admin` | |',
    ]);
  });

  it('have a row for each collection of MongoDB, with its indexes', () => {
    const indexes =
      'list: id, `createdAt`, `updatedAt`, `name`, `email`; unique: `folded.email`; `live_block_words`; `live_derived`; `ttl_deletedAt`; `pending`';
    expect(outputOf('collections')).to.include(`| \`users\` | the same | ${indexes} |`);
    expect(outputOf('collections').join('\n')).to.include('`live_userId_-createdAt`');
  });
});

describe('the examples of resources', () => {
  for (const definition of Object.values(DEFINITIONS))
    it(`are valid: ${definition.path}`, () => {
      expect(newDraft(definition as never, definition.example).issues).to.deep.equal([]);
    });
});
