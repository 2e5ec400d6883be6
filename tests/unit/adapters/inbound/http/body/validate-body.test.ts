import { expect } from 'chai';
import { bodyValidator } from '#src/adapters/inbound/http/body/validate-body.js';
import { PRODUCT } from '#src/domain/product.js';

describe('a body', () => {
  it('has one issue if it is no object', () => {
    const validate = bodyValidator(PRODUCT, ['id']);
    for (const body of [null, undefined, true, 1, 'x', [], [{ name: 'x' }]])
      expect(validate(body).map(({ code, pointer }) => [code, pointer])).to.deep.equal([
        ['invalid_type', ''],
      ]);
  });

  it('lacks a field that is undefined', () => {
    const validate = bodyValidator(PRODUCT, ['id']);
    expect(validate({ name: 'Lamp', sku: undefined })).to.deep.equal([]);
    expect(validate({ name: undefined }).map(({ code }) => code)).to.deep.equal(['required']);
  });
});
