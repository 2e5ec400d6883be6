import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import type { Context, RequestState } from '#src/adapters/inbound/http/core/context.js';
import { HttpError } from '#src/adapters/inbound/http/core/http-error.js';
import {
  addAppliedPreference,
  KEY_PATTERN,
  prefersCount,
  prefersMinimal,
  readIdempotencyKey,
} from '#src/adapters/inbound/http/parameters/request-headers.js';

/** @param values of the header, one for each time it is sent */
function contextWith(name: string, ...values: string[]): Context {
  const request = new IncomingMessage(new Socket());
  request.rawHeaders = values.flatMap((value) => [name, value]);
  if (values.length > 0) {
    request.headers[name.toLowerCase()] = values.join(', ');
    request.headersDistinct[name.toLowerCase()] = values;
  }
  return new Koa<RequestState>().createContext(request, new ServerResponse(request));
}

describe('the header Idempotency-Key', () => {
  it('is refused otherwise, and closes the connection if it is repeated', () => {
    for (const values of [[''], ['k'.repeat(256)], ['a\u007f'], ['a\u001f'], ['é'], ['a', 'b'], ['a', 'a']]) {
      const context = contextWith('Idempotency-Key', ...values);
      expect(() => readIdempotencyKey(context), JSON.stringify(values))
        .to.throw(HttpError)
        .and.satisfies(({ code, details: [issue] }: HttpError) => {
          expect(issue).to.include({ code: 'invalid_format', in: 'header', name: 'Idempotency-Key' });
          return code === 'invalid_idempotency_key';
        });
      expect(context.response.get('Connection')).to.equal(values.length > 1 ? 'close' : undefined);
    }
  });

  it('has a pattern for clients without spaces at the ends', () => {
    const pattern = new RegExp(KEY_PATTERN);
    for (const key of ['x', 'ab', 'a b', '!~']) expect(pattern.test(key), key).to.equal(true);
    for (const key of ['', ' a', 'a ', 'a\u007f', 'é', 'a\nb']) expect(pattern.test(key), key).to.equal(false);
  });
});

describe('the header Prefer', () => {
  it('asks for a minimal response or a count, by its first value', () => {
    const cases: [header: string, minimal: boolean, count: boolean][] = [
      ['return=minimal', true, false],
      ['Return = "MINIMAL"', true, false],
      ['count=exact', false, true],
      ['count=exact, return=minimal', true, true],
      ['respond-async, wait=10; x=y , return=minimal;foo', true, false],
      ['return=representation, return=minimal', false, false],
      ['return', false, false],
      ['xreturn=minimal', false, false],
      ['return=minimalx', false, false],
      ['x="a, return=minimal"', false, false],
      ['x="\\", return=minimal"', false, false],
      ['x="a", return=minimal', true, false],
      ['return=""', false, false],
      ['return, return=minimal', false, false],
      ['x; p="a, return=minimal"', false, false],
      ['x; p="\\", return=minimal"', false, false],
      ['x; p="", return=minimal', true, false],
      ['', false, false],
    ];
    for (const [header, minimal, count] of cases) {
      const context = contextWith('Prefer', header);
      expect([prefersMinimal(context), prefersCount(context)], header).to.deep.equal([minimal, count]);
      expect(context.response.get('Preference-Applied')).to.equal(minimal ? 'return=minimal' : undefined);
    }
    expect(prefersCount(contextWith('Prefer'))).to.equal(false);
  });

  it('is read up to 1,024 characters', () => {
    const isRead = (length: number) => prefersCount(contextWith('Prefer', `${'x'.repeat(length)},count=exact`));
    expect([isRead(1_024 - 12), isRead(1_024 - 11)]).to.deep.equal([true, false]);
  });

  it('is confirmed by a list of what was applied', () => {
    const context = contextWith('Prefer');
    addAppliedPreference(context, 'a=b');
    addAppliedPreference(context, 'c=d');
    expect(context.response.get('Preference-Applied')).to.equal('a=b, c=d');
  });
});
