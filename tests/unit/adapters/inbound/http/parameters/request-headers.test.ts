import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import type { Context, RequestState } from '#src/adapters/inbound/http/core/context.js';
import { HttpError } from '#src/adapters/inbound/http/core/http-error.js';
import {
  addAppliedPreference,
  idempotencyOf,
  KEY_PATTERN,
  prefersCount,
  prefersMinimal,
  readIdempotencyKey,
  requestKey,
  writePrecondition,
} from '#src/adapters/inbound/http/parameters/request-headers.js';
import { ANY_VERSION } from '#src/application/records/write-conditions.js';

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
  const read = (...values: string[]) => {
    const context = contextWith('Idempotency-Key', ...values);
    readIdempotencyKey(context);
    return context.state.idempotencyKey;
  };

  it('has 1 to 255 printable characters', () => {
    expect(read()).to.equal(undefined);
    for (const key of ['x', ' ~', 'k'.repeat(255)]) expect(read(key)).to.equal(key);
  });

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

  it('belongs to its principal and identifies a body', () => {
    const identify = (id: string, key?: string) => {
      const context = contextWith('Idempotency-Key');
      context.state.idempotencyKey = key;
      context.state.principal = { id, scopes: [] };
      return { context, request: idempotencyOf(context, { a: 1 }) };
    };
    expect(identify('key:1').request).to.equal(undefined);
    const { context, request } = identify('key:1', 'k');
    expect(request).to.include({ key: requestKey(context), storesFields: true });
    expect(request?.fingerprint).to.equal(identify('key:2', 'x').request?.fingerprint);
    const keys = [identify('key:1', 'k'), identify('key:2', 'k'), identify('key:1', 'l')];
    expect(new Set(keys.map((one) => one.request?.key))).to.have.length(3);
    context.state = { ...context.state, principal: undefined } as never;
    expect(() => requestKey(context)).to.throw('needs an authenticated principal');
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

describe('the headers If-Match and If-None-Match', () => {
  const versionOf = (tag: string) => (/^"\d"$/.test(tag) ? Number(tag[1]) : undefined);
  const read = (match?: string, noneMatch?: string, isRequired = false) =>
    writePrecondition({ 'if-match': match, 'if-none-match': noneMatch }, isRequired, versionOf);

  it('name versions', () => {
    expect(read()).to.equal(ANY_VERSION);
    expect(read('"3"')).to.deep.equal({ only: [3], never: [] });
    expect(read('"3", W/"4", "x"', undefined, true)).to.deep.equal({ only: [3, 4], never: [] });
    expect(read('*')).to.deep.equal({ never: [] });
    expect(read(undefined, '"1", W/"2", "x"')).to.deep.equal({ never: [1, 2] });
    expect(read(undefined, '*')).to.deep.equal({ never: 'any' });
    expect(read('"1"', '"2"')).to.deep.equal({ only: [1], never: [2] });
  });

  it('are refused if one is missing or malformed', () => {
    const codeOf = (act: () => unknown) => {
      try {
        return act();
      } catch (error) {
        return (error as HttpError).code;
      }
    };
    expect(codeOf(() => read(undefined, undefined, true))).to.equal('precondition_required');
    expect(codeOf(() => read(undefined, '*', true))).to.equal('precondition_required');
    expect(codeOf(() => read('3'))).to.equal('invalid_parameter');
    expect(codeOf(() => read('*', '3'))).to.equal('invalid_parameter');
  });
});
