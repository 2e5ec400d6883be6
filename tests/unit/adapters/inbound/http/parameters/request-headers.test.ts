import { expect } from 'chai';
import { HttpError } from '#src/adapters/inbound/http/core/http-error.js';
import {
  addAppliedPreference,
  KEY_PATTERN,
  prefersCount,
  prefersMinimal,
  readIdempotencyKey,
} from '#src/adapters/inbound/http/parameters/request-headers.js';
import { contextWith } from '../../../../../support/koa-context.js';
import { list } from '../../../../../support/list.js';

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
    const neither = [
      ...list`return=representation, return=minimal  return  xreturn=minimal  return=minimalx  x="a, return=minimal"`,
      ...list`x="\", return=minimal"  return=""  return, return=minimal  x; p="a, return=minimal"  x; p="\", return=minimal"`,
      '',
    ];
    const minimal = [
      ...list`return=minimal  Return = "MINIMAL"  respond-async, wait=10; x=y , return=minimal;foo`,
      ...list`x="a", return=minimal  x; p="", return=minimal`,
    ];
    const cases: [headers: string[], minimal: boolean, count: boolean][] = [
      [neither, false, false],
      [minimal, true, false],
      [['count=exact'], false, true],
      [['count=exact, return=minimal'], true, true],
    ];
    for (const [headers, isMinimal, isCounted] of cases)
      for (const header of headers) {
        const context = contextWith('Prefer', header);
        expect([prefersMinimal(context), prefersCount(context)], header).to.deep.equal([isMinimal, isCounted]);
        expect(context.response.get('Preference-Applied')).to.equal(isMinimal ? 'return=minimal' : undefined);
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
