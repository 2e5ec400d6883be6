import { expect } from 'chai';
import {
  type Cursor,
  decodeCursor,
  encodeCursor,
  isPositionIn,
  queryFingerprint,
  sealed,
} from '#src/adapters/inbound/http/lists/cursor.js';
import { BY_ID, type SortOrder, type Value } from '#src/application/ports/list-query.js';
import { PRODUCTS } from '../../../../../support/tables.js';

const FINGERPRINT = queryFingerprint({ filters: [], order: BY_ID });

describe('a cursor in the code', () => {
  for (const side of ['after', 'before'] as const)
    for (const inclusive of [true, false])
      it(`keeps a position ${side} a record, inclusive: ${inclusive}`, () => {
        const cursor: Cursor = {
          position: { side, inclusive, values: ['é', 7, -0.5, null] },
          fingerprint: FINGERPRINT,
        };
        expect(decodeCursor('products', encodeCursor('products', cursor))).to.deep.equal(cursor);
        expect(decodeCursor('users', encodeCursor('products', cursor))).to.equal(undefined);
      });

  it('has a side, an inclusiveness, a fingerprint and values', () => {
    const decode = (...values: unknown[]) => decodeCursor('products', sealed('products', values));
    expect(decode('after', false, 'f', [1])).to.deep.equal({
      position: { side: 'after', inclusive: false, values: [1] },
      fingerprint: 'f',
    });
    for (const wrong of [[], [null], ['aside', false, 'f', [1]], ['after', 0, 'f', [1]]])
      expect(decode(...wrong), JSON.stringify(wrong)).to.equal(undefined);
    for (const wrong of [
      ['after', false, 1, [1]],
      ['after', false, 'f', {}],
      ['after', false, 'f'],
    ])
      expect(decode(...wrong), JSON.stringify(wrong)).to.equal(undefined);
  });

  it('is an array in JSON', () => {
    for (const json of ['', 'x', 'null', '5', '{}', '"after"']) {
      const text = Buffer.from(`checksum${json}`).toString('base64url');
      expect(decodeCursor('products', text), json).to.equal(undefined);
    }
  });

  it('has only texts, numbers and null as values', () => {
    for (const wrong of [true, [1], {}]) {
      const values = ['x', wrong] as Value[];
      const text = encodeCursor('products', {
        position: { side: 'after', inclusive: false, values },
        fingerprint: FINGERPRINT,
      });
      expect(decodeCursor('products', text), JSON.stringify(wrong)).to.equal(undefined);
    }
  });

  it('has a fingerprint of 12 characters, which tells one order from another', () => {
    const other = queryFingerprint({ filters: [], order: [{ field: 'id', descending: true }] });
    expect([FINGERPRINT, other].every((text) => /^[\w-]{12}$/.test(text))).to.equal(true);
    expect(other).to.not.equal(FINGERPRINT);
    expect(queryFingerprint({ filters: [], order: [...BY_ID] })).to.equal(FINGERPRINT);
  });

  it('has a fingerprint that tells filters apart, and ignores their order', () => {
    const of = (...values: string[]) =>
      queryFingerprint({
        filters: values.map((value) => ({ field: 'name', operator: 'ne', value })),
        order: BY_ID,
      });
    expect(new Set([of(), of('a'), of('b'), of('a', 'b'), of('a', 'a')])).to.have.length(5);
    expect(of('b', 'a')).to.equal(of('a', 'b'));
  });

  it('is in a list only with a value of the right type for each key', () => {
    const isIn = (field: string, ...values: (Value | null)[]) => {
      const order: SortOrder = field === 'id' ? BY_ID : [{ field, descending: false }, ...BY_ID];
      return isPositionIn(order, PRODUCTS.fields, { side: 'after', inclusive: false, values });
    };
    const largest = 8_640_000_000_000_000;
    expect(isIn('id', Number.MAX_SAFE_INTEGER)).to.equal(true);
    expect(isIn('createdAt', largest, 1)).to.equal(true);
    expect(isIn('createdAt', -largest, 1)).to.equal(true);
    expect(isIn('createdAt', largest + 1, 1)).to.equal(false);
    expect(isIn('createdAt', -largest - 1, 1)).to.equal(false);
    expect(isIn('name', '', 1)).to.equal(true);
    expect(isIn('name', 1, 1)).to.equal(false);
    expect(isIn('name', '\udc00', 1)).to.equal(false);
    expect(isIn('name', '', 0.5)).to.equal(false);
    expect(isIn('name', '')).to.equal(false);
    expect(isIn('name', '', 1, 1)).to.equal(false);
    expect(isIn('name')).to.equal(false);
    expect(isIn('id')).to.equal(false);
  });

  it('is in a list with null for a field that a record may lack, and for no other', () => {
    const isIn = (field: string, id: Value | null = 1) =>
      isPositionIn([{ field, descending: true }, ...BY_ID], PRODUCTS.fields, {
        side: 'before',
        inclusive: true,
        values: [null, id],
      });
    for (const field of [
      'sku',
      'price.amount',
      'price.currency',
      'brand',
      'gtin',
      'group',
      'stock',
      'status',
    ])
      expect(isIn(field), field).to.equal(true);
    for (const field of ['name', 'id', 'createdAt', 'updatedAt']) expect(isIn(field), field).to.equal(false);
    expect(isIn('sku', null)).to.equal(false);
  });
});
