import { expect } from 'chai';
import { TOKENIZER_VERSION } from '#src/application/search/tokenizer.js';
import { DEFINITIONS } from '#src/composition/resources.js';
import { searchedFields } from '#src/domain/fields.js';

describe('the words of a record', () => {
  it('have a higher version for other fields, so that stores make the words of older records again', () => {
    const fields = Object.entries(DEFINITIONS).map(([name, { table }]) => [name, searchedFields(table)]);
    expect({ version: TOKENIZER_VERSION, fields: Object.fromEntries(fields) }).to.deep.equal({
      version: 4_000_000,
      fields: {
        products: ['name', 'description', 'sku', 'attributes', 'tags', 'brand', 'gtin', 'group'],
        users: ['name', 'email'],
        orders: [],
        apiKeys: [],
        webhooks: [],
      },
    });
  });
});
