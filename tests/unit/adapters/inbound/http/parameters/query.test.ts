import { expect } from 'chai';
import type { Context } from '#src/adapters/inbound/http/core/context.js';
import { HttpError } from '#src/adapters/inbound/http/core/http-error.js';
import { NO_PARAMETERS, type Parameter } from '#src/adapters/inbound/http/core/parameter.js';
import {
  invalid,
  nameListIssues,
  readQuery,
  wholeNumberIssue,
} from '#src/adapters/inbound/http/parameters/query.js';

const none = () => [];

const PARAMETERS: Readonly<Record<string, Parameter>> = {
  one: {
    name: 'one',
    issues: (value) => (value === 'bad' ? [invalid('one', 'invalid_format', 'is bad')] : []),
  },
  list: {
    name: 'list',
    isList: true,
    issues: (value, name) => (value.includes('bad') ? [invalid(name, 'too_long', 'is bad')] : []),
  },
  alias: { name: 'list', isList: true, issues: none },
  other: { name: 'one', issues: none },
  cursor: {
    name: 'cursor',
    code: 'invalid_cursor',
    issues: () => [invalid('cursor', 'invalid_format', 'is bad')],
  },
  'é b': { name: 'é b', issues: none },
};
const KNOWN = { find: (name: string) => (Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined) };

const context = (querystring: string) => ({ querystring }) as Context;
const read = (querystring: string) => [...readQuery(context(querystring), KNOWN)];

/** @returns the code of the error, and `code name` of each issue */
function refusal(querystring: string): readonly string[] {
  try {
    read(querystring);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return [
      error.code,
      ...error.details.map((issue) => `${issue.code} ${'name' in issue ? issue.name : ''}`),
    ];
  }
  throw new Error('It was not refused.');
}

describe('readQuery', () => {
  it('returns the parameters in the order of the request, decoded', () => {
    expect(read('')).to.deep.equal([]);
    expect(read('&&')).to.deep.equal([]);
    expect(read('one=a%20b+c&&list=')).to.deep.equal([
      ['one', 'a b c'],
      ['list', ''],
    ]);
    expect(read('list&one==%3D')).to.deep.equal([
      ['list', ''],
      ['one', '=='],
    ]);
    expect(read('%C3%A9+b=%E2%82%AC')).to.deep.equal([['é b', '€']]);
  });

  it('joins the values of a list, in each of its spellings', () => {
    expect(read('list=a,b&one=x&alias=c&list=d')).to.deep.equal([
      ['list', 'a,b,c,d'],
      ['one', 'x'],
    ]);
  });

  it('reports an unknown parameter, by its name as sent if it is not percent-encoded UTF-8', () => {
    expect(refusal('x=1')).to.deep.equal(['unknown_parameter', 'unknown_parameter x']);
    expect(refusal('%zz=1&%C3=2')).to.deep.equal([
      'unknown_parameter',
      'unknown_parameter %zz',
      'unknown_parameter %C3',
    ]);
    expect(() => readQuery(context('one=1'), NO_PARAMETERS)).to.throw(HttpError);
  });

  it('reports a repeated parameter, also in another spelling', () => {
    expect(refusal('one=1&one=2&other=3')).to.deep.equal([
      'invalid_parameter',
      'duplicate_value one',
      'duplicate_value other',
    ]);
  });

  it('reports every issue at once', () => {
    expect(refusal('one=bad&x=1')).to.deep.equal([
      'invalid_parameter',
      'invalid_format one',
      'unknown_parameter x',
    ]);
    expect(refusal('cursor=x')).to.deep.equal(['invalid_cursor', 'invalid_format cursor']);
  });

  it('reports values that are not percent-encoded UTF-8, before the issues of the others', () => {
    expect(refusal('one=%zz')).to.deep.equal(['invalid_parameter', 'invalid_format one']);
    expect(refusal('list=%C3&list=bad')).to.deep.equal([
      'invalid_parameter',
      'invalid_format list',
      'too_long list',
    ]);
  });

  it('validates no value that cannot be decoded, and looks for no such name', () => {
    expect(refusal('cursor=%zz')).to.deep.equal(['invalid_cursor', 'invalid_format cursor']);
    const any = { find: (name: string) => ({ name, issues: none }) };
    expect(() => readQuery(context('%zz=1'), any)).to.throw(HttpError);
    expect([...readQuery(context('=a'), any)]).to.deep.equal([['', 'a']]);
  });

  it('says of each issue that it is in the query', () => {
    for (const querystring of ['x=1', 'one=bad', 'one=1&other=2'])
      expect(() => read(querystring))
        .to.throw(HttpError)
        .and.satisfies(({ details }: HttpError) => details.every((issue) => issue.in === 'query'));
    expect(() => read('one=1&one=2')).to.throw('The parameter one is given more than once.');
    expect(() => read('one=1&other=2')).to.throw(
      'The parameter other is the same as one, which is given too.',
    );
  });

  it('reports at most 100 issues', () => {
    expect(refusal('x=1&'.repeat(150))).to.have.length(101);
  });
});

describe('the issues of names', () => {
  it('are each reported once', () => {
    const codes = (...names: string[]) =>
      nameListIssues('sort', names, ['a', 'b']).map(({ code, name }) => `${code} ${name}`);
    expect(codes('a', 'b', 'a')).to.deep.equal([]);
    expect(codes('')).to.deep.equal(['too_short sort']);
    expect(codes('', 'x', '', 'y')).to.deep.equal(['too_short sort', 'unknown_field sort']);
    expect(codes('a', 'x')).to.deep.equal(['unknown_field sort']);
  });
});

describe('wholeNumberIssue', () => {
  it('accepts the decimal digits of an integer within its bounds', () => {
    const issue = (text: string) => wholeNumberIssue(text, { min: -10, max: 20 });
    for (const text of ['0', '-0', '-10', '20', '7']) expect(issue(text), text).to.equal(undefined);
    for (const text of ['-11', '21', '100']) expect(issue(text), text).to.equal('out_of_range');
    for (const text of ['', ' 1', '1 ', '+1', '01', '1.0', '1e1', '0x1', '--1', '1_0', '१', '-'])
      expect(issue(text), text).to.equal('invalid_type');
  });
});
