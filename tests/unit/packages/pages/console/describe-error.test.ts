import { expect } from 'chai';
import { CatalogueError, UnknownOutcomeError } from '#packages/client/index.js';
import { describeError } from '#packages/pages/console/describe-error.js';
import { TEXTS } from '#packages/pages/console/texts.js';

const { errors } = TEXTS;
const error = (status: number, code: string, message = 'x', seconds?: number) =>
  new CatalogueError(status, code, message, [], 'request-1', seconds);

describe('an error in the console', () => {
  it('has words for each kind of refusal', () => {
    expect(describeError(error(401, 'token_expired'))).to.equal(errors.unauthenticated);
    expect(describeError(error(404, 'not_found'))).to.equal(errors.notFound);
    expect(describeError(error(412, 'precondition_failed'))).to.equal(errors.conflict);
    expect(describeError(error(200, 'unexpected_response'))).to.equal(errors.unexpected);
    expect(describeError(new UnknownOutcomeError(new TypeError()))).to.equal(errors.unknownOutcome);
  });

  it('names the scope that is missing', () => {
    const { text } = describeError(error(403, 'insufficient_scope', 'This needs the scope products:write.'));
    expect(text).to.include('the scope products:write.');
  });

  it('says how long to wait', () => {
    expect(describeError(error(429, 'rate_limited', 'x', 17)).text).to.include('in 17 s');
    expect(describeError(error(429, 'rate_limited')).text).to.include('in a minute');
  });

  it('gives the id of a request that the log explains', () => {
    for (const [status, code] of [
      [500, 'internal_error'],
      [503, 'unavailable'],
    ] as const)
      expect(describeError(error(status, code)).text).to.include('request-1');
  });

  it('gives the words of the service for a bad request: each problem', () => {
    const details = [
      { code: 'out_of_range', message: 'limit is too large', in: 'query', name: 'limit' },
      { code: 'invalid_type', message: 'id is no number.', in: 'query', name: 'id' },
    ] as const;
    const bad = new CatalogueError(400, 'invalid_parameter', 'Bad', details, undefined);
    expect(describeError(bad).text).to.equal('limit is too large. id is no number.');
    expect(describeError(error(400, 'invalid_cursor', 'The cursor is malformed.')).text).to.equal(
      'The cursor is malformed',
    );
  });

  it('is a lost connection in the words of every browser, and nothing else is', () => {
    const messages = ['Failed to fetch', 'NetworkError when attempting to fetch resource.', 'Load failed'];
    for (const message of messages) expect(describeError(new TypeError(message))).to.equal(errors.lost);
    expect(describeError(new TypeError('x is not a function')).title).to.equal(errors.program.title);
  });
});
