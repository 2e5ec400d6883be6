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

    it('has in them the output of npm run docs:tables', () => {
      expect(text).to.equal(withTables(text));
    });
  });

describe('the generated blocks', () => {
  const outputOf = (name: string) =>
    withTables(`<!-- generated: ${name} -->\nold\n<!-- end of generated -->\n`).split('\n');

  it('have a row for each field, with its rule and what lists do with it', () => {
    const rows = outputOf('fields');
    for (const row of [
      '| `name` | **required**; not empty. What buyers call the product: at most 200 characters, not only white space, no control character or lone surrogate. | filter, sort |',
      '| `price` | What one piece costs: an object with amount, currency. | |',
      '| `price.currency` | **required** inside. The currency, as in ISO 4217: three capital letters, such as EUR. | filter, sort, facet |',
    ])
      expect(rows).to.include(row);
    expect(rows.join('\n')).to.match(
      /\| `email` \| \*\*required\*\*; \*\*unique\*\*, ignoring case; not empty\. /,
    );
    expect(rows.join('\n')).to.match(/\| `url` \| .+ \| `\.exists` \|/);
    expect(rows.find((row) => row.startsWith('| `tags` |'))?.split(/(?<!\\)\|/)).to.have.length(5);
    expect(rows.join('\n')).to.match(/\| `createdBy` \| Set by the service\. .+ \| filter, sort \|/);
  });

  it('have a row for each collection, with its scopes', () => {
    expect(outputOf('scopes')).to.include.members([
      '| `/v1/products`: products | `products:read` | `products:write` | `products:write` and `products:read` |',
      '| `/v1/api-keys`: API keys | `keys:admin` | `keys:admin` | |',
    ]);
  });

  it('have a row for each collection of MongoDB, with its indexes', () => {
    const indexes =
      'list: id, `createdAt`, `updatedAt`, `name`, `email`; unique: `folded.email`; `live_words`; `ttl_deletedAt`; `pending`';
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
