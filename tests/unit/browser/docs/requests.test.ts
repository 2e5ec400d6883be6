import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { attemptOf, type Entry } from '#browser/docs/attempt.js';
import { curlOf } from '#browser/docs/curl.js';
import type { Parameter } from '#browser/docs/openapi.js';
import type { Operation } from '#browser/docs/operations.js';

const BASE = 'https://shop.example/catalogue/';

function operation(more: Partial<Operation> = {}): Operation {
  return {
    id: 'x',
    method: 'GET',
    path: '/v1/products/{id}',
    summary: '',
    description: '',
    tag: '',
    isDeprecated: false,
    parameters: [],
    responses: [],
    access: { takesKey: true, needsKey: true, scopes: [], others: [] },
    ...more,
  };
}

function entry(
  name: string,
  location: Parameter['in'],
  text: string,
  more: Partial<Entry & Parameter> = {},
): Entry {
  const { kind = 'plain', ...rest } = more;
  return { kind, text, parameter: { name, in: location, ...rest } };
}

function urlOf(...entries: Entry[]): string {
  return attemptOf(operation({ path: '/v1/products' }), { entries, accept: '*/*' }, BASE).url;
}

/** The arguments that a shell passes to curl. */
function argumentsOf(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}\n`;
  const out = execFileSync('sh', ['-c', script], { encoding: 'utf8', env: { API_KEY: 'pcs_x' } });
  return out.split('\0').slice(0, -1);
}

describe('a request from the documentation page', () => {
  it('resolves against the folder of the page, not against the servers of the document', () => {
    const { url } = attemptOf(operation(), { entries: [entry('id', 'path', '7')], accept: '*/*' }, BASE);
    expect(url).to.equal('https://shop.example/catalogue/v1/products/7');
  });

  it('encodes the input in its path and query', () => {
    const attempt = attemptOf(
      operation(),
      { entries: [entry('id', 'path', '../a b?$&')], accept: '*/*' },
      BASE,
    );
    expect(attempt.url).to.equal(`${BASE}v1/products/..%2Fa%20b%3F%24%26`);
    expect(urlOf(entry('name:prefix', 'query', 'a&b=c+d é'))).to.equal(
      `${BASE}v1/products?name:prefix=a%26b%3Dc%2Bd%20%C3%A9`,
    );
  });

  it('omits empty parameters', () => {
    expect(
      urlOf(entry('limit', 'query', ''), entry('attributes', 'query', '', { kind: 'members' })),
    ).to.equal(`${BASE}v1/products`);
  });

  it('separates the values of a list as the document declares', () => {
    expect(urlOf(entry('sort', 'query', 'name,-id', { kind: 'list', explode: false }))).to.match(
      /\?sort=name,-id$/,
    );
    expect(urlOf(entry('tag', 'query', 'a,b', { kind: 'list' }))).to.match(/\?tag=a&tag=b$/);
  });

  it('reads one member of a free-form parameter per line', () => {
    const text = 'attributes.colour=black\n\n attributes.a:b =1=2';
    expect(urlOf(entry('attributes', 'query', text, { kind: 'members' }))).to.equal(
      `${BASE}v1/products?attributes.colour=black&attributes.a:b=1%3D2`,
    );
  });

  it('carries the entered headers and the selected media types', () => {
    const { headers, body } = attemptOf(
      operation(),
      {
        entries: [entry('If-Match', 'header', '"1"'), entry('Prefer', 'header', '')],
        accept: 'application/json',
        body: { type: 'application/merge-patch+json', text: '{}' },
      },
      BASE,
    );
    expect(headers).to.deep.equal([
      ['Accept', 'application/json'],
      ['If-Match', '"1"'],
      ['Content-Type', 'application/merge-patch+json'],
    ]);
    expect(body).to.equal('{}');
  });
});

describe('the same request for curl', () => {
  const hostile = `it's "$HOME" \`id\` $(id) \\ !x\n@file ; é`;

  it('survives the shell unchanged, with the key from the environment', () => {
    const attempt = {
      method: 'PATCH',
      url: `${BASE}v1/products/7?name=it's`,
      headers: [['If-Match', hostile.replace('\n', '')]] as const,
      body: hostile,
      takesKey: true,
    };
    expect(argumentsOf(curlOf(attempt))).to.deep.equal([
      '--include',
      '--request',
      'PATCH',
      attempt.url,
      '--header',
      'Authorization: Bearer pcs_x',
      '--header',
      `If-Match: ${hostile.replace('\n', '')}`,
      '--data-raw',
      hostile,
    ]);
  });

  it('names the method only if curl would use another one', () => {
    const plain = { url: BASE, headers: [], takesKey: false };
    expect(argumentsOf(curlOf({ ...plain, method: 'GET' }))).to.deep.equal(['--include', BASE]);
    expect(argumentsOf(curlOf({ ...plain, method: 'HEAD' }))).to.deep.equal(['--include', '--head', BASE]);
    expect(argumentsOf(curlOf({ ...plain, method: 'POST', body: '{}' }))).to.deep.equal([
      '--include',
      BASE,
      '--data-raw',
      '{}',
    ]);
    expect(argumentsOf(curlOf({ ...plain, method: 'POST' })).slice(1, 3)).to.deep.equal([
      '--request',
      'POST',
    ]);
    expect(argumentsOf(curlOf({ ...plain, method: 'GET', body: '' })).slice(1, 3)).to.deep.equal([
      '--request',
      'GET',
    ]);
  });
});
