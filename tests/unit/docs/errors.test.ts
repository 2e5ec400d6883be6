import { expect } from 'chai';
import { ERRORS, ISSUES } from '#src/adapters/inbound/http/core/error-codes.js';
import { OAUTH_ERRORS } from '#src/adapters/inbound/http/oauth/oauth-errors.js';

/** The public contract, copied by hand: a new or moved code changes the contract. */
const CODES_BY_STATUS: Readonly<Record<number, string>> = {
  400: 'malformed_json malformed_csv validation_failed unknown_parameter invalid_parameter invalid_cursor cursor_mismatch query_too_expensive invalid_patch invalid_idempotency_key unsupported_version',
  401: 'unauthenticated invalid_token token_expired',
  403: 'insufficient_scope https_required',
  404: 'not_found',
  405: 'method_not_allowed',
  406: 'not_acceptable',
  408: 'request_timeout',
  409: 'duplicate_value patch_test_failed last_admin_key limit_reached',
  410: 'cursor_expired',
  412: 'precondition_failed',
  413: 'payload_too_large',
  414: 'uri_too_long',
  415: 'unsupported_media_type',
  417: 'expectation_failed',
  422: 'idempotency_key_reused',
  428: 'precondition_required',
  429: 'rate_limited',
  431: 'headers_too_large',
  500: 'internal_error',
  503: 'unavailable',
};
const DETAIL_CODES =
  'required invalid_type out_of_range too_long too_short invalid_format unknown_field read_only_field duplicate_value reference_not_found patch_test_failed unknown_parameter';

describe('the errors', () => {
  it('have every code of the contract with its status, and no other', () => {
    const expected = Object.entries(CODES_BY_STATUS).flatMap(([status, codes]) =>
      codes.split(' ').map((code) => [code, Number(status)]),
    );
    expect(Object.entries(ERRORS).map(([code, { status }]) => [code, status])).to.have.deep.members(expected);
    expect(Object.keys(ISSUES)).to.have.members(DETAIL_CODES.split(' '));
  });

  it('have a cause and a remedy, in whole sentences', () => {
    for (const [code, { cause, remedy }] of Object.entries({ ...ERRORS, ...ISSUES, ...OAUTH_ERRORS })) {
      expect(cause, code).to.match(/^[A-Z`].{20,}[.)]$/s);
      expect(remedy, code).to.match(/^[A-Z`].+\.$/s);
    }
  });
});
