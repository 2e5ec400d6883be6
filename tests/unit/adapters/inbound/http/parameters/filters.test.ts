import { expect } from 'chai';
import fc from 'fast-check';
import { Filters } from '#src/adapters/inbound/http/parameters/filters.js';
import { PRODUCTS } from '#src/adapters/inbound/http/resources/definitions.js';

describe('Filters', () => {
  it('finds any key between the first [ and the last ], unless a final [] makes the name that of a list', () => {
    const filters = new Filters(PRODUCTS);
    const parts = fc.constantFrom('[', ']', '.', ':', 'in', 'ne', 'a', ' ', 'é', '=', '[]', '].in');
    fc.assert(
      fc.property(fc.array(parts, { minLength: 1, maxLength: 6 }), (texts) => {
        const key = texts.join('');
        const found = filters.find(`attributes[${key}]`);
        const isOtherBetween = /^.+\]\[(?:in|ne)?(?:\]\[)?$/s.test(key);
        const isOtherBehindDot = /\.(?:in|ne)$|\[(?:in|ne)?\]$/s.test(key);
        const name = isOtherBehindDot ? `attributes[${key}]` : `attributes.${key}`;
        if (key.endsWith('[') || isOtherBetween) expect(found).to.equal(undefined);
        else expect(found).to.include({ name });
        const dotted = filters.find(`attributes.${key}`);
        if (isOtherBehindDot) expect(dotted).to.equal(undefined);
        else expect(dotted).to.include({ name });
        // The query is read again under this name.
        const [filter] = filters.read(new Map([[name, 'x']]));
        expect(filter).to.include({ key });
        expect(found ?? dotted, 'every key has a spelling').to.not.equal(undefined);
        expect(filters.find(`attributes[${key}].x`)).to.equal(undefined);
      }),
      { numRuns: 300 },
    );
  });

  it('finds any key before an operator, in both spellings', () => {
    const filters = new Filters(PRODUCTS);
    const parts = fc.constantFrom('[', ']', '.', ':', 'in', 'a', ' ', 'é', '[]', '].in', '].gt', ']:lt');
    const operators = fc.constantFrom(...['in', 'exists', 'lt', 'lte', 'gt', 'gte']);
    fc.assert(
      fc.property(
        fc.array(parts, { minLength: 1, maxLength: 6 }),
        operators,
        fc.constantFrom('.', ':'),
        (texts, operator, separator) => {
          const key = texts.join('');
          const found = filters.find(`attributes[${key}]${separator}${operator}`);
          expect(found).to.include({ name: `attributes[${key}].${operator}` });
          const value = operator === 'exists' ? 'true' : '1';
          const [filter] = filters.read(new Map([[`attributes[${key}].${operator}`, value]]));
          expect(filter).to.include({ operator: 'attribute', key });
        },
      ),
      { numRuns: 300 },
    );
  });
});
