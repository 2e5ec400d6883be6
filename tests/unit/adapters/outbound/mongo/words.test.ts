import { expect } from 'chai';
import { BSON } from 'mongodb';
import { derivedMembers } from '#src/adapters/outbound/mongo/documents.js';
import { PRODUCTS } from '../../../../support/tables.js';

/** The server refuses a larger document. */
const MAX_BYTES = 16 * 1_024 * 1_024;

describe('the words of a document', () => {
  /** Signs of four bytes each. */
  const text = (length: number, first: number) =>
    Array.from({ length }, (_, at) => String.fromCodePoint(0x20000 + first + at)).join('');

  it('fit into a document, however many signs a record has', () => {
    const attributes = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [`k${at}`, text(500, 5_200 + 500 * at)]),
    );
    const fields = { name: text(200, 0), description: text(5_000, 200), attributes };
    const record = { id: 1, version: 1, createdAt: 0, updatedAt: 0, fields };
    const document = { _id: 1, fields, ...derivedMembers(PRODUCTS, record) };
    expect(document.words).to.have.length(8_000);
    expect(BSON.calculateObjectSize(document)).to.be.below(MAX_BYTES);
  });
});
