import { expect } from 'chai';
import { BSON } from 'mongodb';
import { indexedWords } from '#src/adapters/outbound/mongo/words.js';
import { PRODUCTS } from '../../../../support/tables.js';

/** The server refuses a larger document. */
const MAX_BYTES = 16 * 1_024 * 1_024;

describe('the words of a document', () => {
  /** Square words such as U+3316, of which normalising makes up to six characters. */
  const text = (length: number, seed: number) =>
    Array.from({ length }, (_, at) =>
      String.fromCodePoint(0x3300 + ((at * at * 31 + at * seed + (at >> 3)) % 88)),
    ).join('');

  it('fit into a document, however many there are', () => {
    const attributes = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [`k${at}`, text(500, at + 7)]),
    );
    const fields = { name: text(200, 3), description: text(5_000, 5), attributes };
    const document = { _id: 1, fields, ...indexedWords(PRODUCTS, 1, fields) };
    expect(document.words).to.have.length.above(50_000);
    expect(BSON.calculateObjectSize(document)).to.be.below(MAX_BYTES);
  });
});
