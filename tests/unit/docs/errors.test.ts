import { expect } from 'chai';
import { ERRORS, ISSUES } from '#src/adapters/inbound/http/core/error-codes.js';
import { OAUTH_ERRORS } from '#src/adapters/inbound/http/oauth/oauth-errors.js';
import { CODES_BY_STATUS } from '../../support/http-client.js';
import { list } from '../../support/list.js';

const DETAIL_CODES = list`required  invalid_type  out_of_range  too_long  too_short  invalid_format  unknown_field
  read_only_field  duplicate_value  reference_not_found  patch_test_failed  unknown_parameter`;

describe('the errors', () => {
  it('have every code of the contract with its status, and no other', () => {
    const expected = CODES_BY_STATUS.flatMap(([status, codes]) => codes.map((code) => [code, Number(status)]));
    expect(Object.entries(ERRORS).map(([code, { status }]) => [code, status])).to.have.deep.members(expected);
    expect(Object.keys(ISSUES)).to.have.members(DETAIL_CODES);
  });

  it('have a cause and a remedy, in whole sentences', () => {
    for (const [code, { cause, remedy }] of Object.entries({ ...ERRORS, ...ISSUES, ...OAUTH_ERRORS })) {
      expect(cause, code).to.match(/^[A-Z`].{20,}[.)]$/s);
      expect(remedy, code).to.match(/^[A-Z`].+\.$/s);
    }
  });
});
