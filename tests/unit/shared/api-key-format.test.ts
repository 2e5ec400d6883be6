import { expect } from 'chai';
import { API_KEY_SHAPE } from '#src/shared/api-key-format.js';

describe('an API key', () => {
  it('has a shape: a prefix and 36 letters and digits', () => {
    expect(API_KEY_SHAPE.test(`pcs_${'aZ9'.repeat(12)}`)).to.equal(true);
    for (const wrong of [35, 37].map((count) => `pcs_${'a'.repeat(count)}`))
      expect(API_KEY_SHAPE.test(wrong), wrong).to.equal(false);
    for (const wrong of [`xpcs_${'a'.repeat(36)}`, `pcs_${'a'.repeat(35)}-`, `pcs_${'a'.repeat(36)}\n`])
      expect(API_KEY_SHAPE.test(wrong), wrong).to.equal(false);
  });
});
