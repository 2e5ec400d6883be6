import { expect } from 'chai';
import { CatalogueError, type ErrorDetail, UnknownOutcomeError } from '#packages/client/index.js';
import { brokenRule, describeError } from '#packages/pages/console/describe-error.js';
import { placeOf } from '#packages/pages/console/formats.js';
import { resourcesOf } from '#packages/pages/console/resources.js';
import { TEXTS } from '#packages/pages/console/texts.js';
import type { Resource } from '#packages/pages/console/types.js';
import type { OpenApi } from '#packages/pages/docs/openapi.js';
import { References } from '#packages/pages/docs/references.js';
import { duplicateValue } from '#src/domain/errors.js';
import { PRODUCT } from '#src/domain/product.js';
import { entityValidator } from '#src/domain/validation.js';
import { documentOf } from '../../../../support/openapi/described.js';

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
    expect(describeError(bad).text).to.equal('Limit is too large. Id is no number.');
    expect(describeError(error(400, 'invalid_cursor', 'The cursor is malformed.')).text).to.equal(
      'The cursor is malformed',
    );
  });

  it('shows of the rule of a field only what is broken', () => {
    const document = documentOf({}) as OpenApi;
    const references = new References(document);
    const products = resourcesOf(document, references).find(({ name }) => name === 'products') as Resource;
    const rules = (product: object) =>
      Object.fromEntries(
        entityValidator(PRODUCT)(product).map((one) => [
          placeOf(one.pointer),
          brokenRule(one as ErrorDetail, products, references),
        ]),
      );
    expect(
      rules({
        description: 'x'.repeat(5001),
        sku: 'two words',
        price: { amount: -1 },
        attributes: { '': 'x', colour: 'x'.repeat(501) },
        tags: ['a', 'a'],
        images: [{ url: 'ftp://a.example' }],
        gtin: '4006381333932',
        brand: 1,
      }),
    ).to.deep.equal({
      Name: 'Fill this in.',
      Description: TEXTS.form.broken.characters(5000),
      SKU: 'Write letters from A to Z, digits, points, hyphens and underscores, without spaces.',
      Price: 'Write 0 or more.',
      'Price › Currency': 'Fill this in.',
      'Attributes › ': 'Give the attribute a name.',
      'Attributes › colour': 'At most 500 characters fit here.',
      'Tags 2': 'This is there twice.',
      'Pictures 1 › URL': 'Write a URL such as https://example.com/lamp.jpg.',
      GTIN: 'After 400638133393 the check digit would be 1.',
      Brand:
        'This must be a string: at most 200 characters, not only white space, no control character or lone surrogate.',
    });
    const { details } = duplicateValue('sku').ownedBy(2);
    expect(brokenRule(details[0] as ErrorDetail, products, references)).to.equal('Another product has this already.');
  });

  it('is a lost connection in the words of every browser, and nothing else is', () => {
    const messages = ['Failed to fetch', 'NetworkError when attempting to fetch resource.', 'Load failed'];
    for (const message of messages) expect(describeError(new TypeError(message))).to.equal(errors.lost);
    expect(describeError(new TypeError('x is not a function')).title).to.equal(errors.program.title);
  });
});
