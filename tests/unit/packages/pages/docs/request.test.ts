import { expect } from 'chai';
import type { Parameter } from '#packages/pages/docs/openapi.js';
import { buildRequest, type ParameterValue } from '#packages/pages/docs/request.js';
import { operation } from './operation.js';

const BASE = 'https://shop.example/catalogue/';

function value(
  name: string,
  location: Parameter['in'],
  text: string,
  { isList = false, ...more }: Partial<ParameterValue & Parameter> = {},
): ParameterValue {
  return { isList, text, parameter: { name, in: location, ...more } };
}

function urlOf(...parameters: ParameterValue[]): string {
  return buildRequest(operation({ path: '/v1/products' }), { parameters }, BASE).url;
}

describe('a request from the documentation page', () => {
  it('resolves against the folder of the page, not against the servers of the document', () => {
    const { url } = buildRequest(operation(), { parameters: [value('id', 'path', '7')] }, BASE);
    expect(url).to.equal('https://shop.example/catalogue/v1/products/7');
  });

  it('encodes the input in its path and query', () => {
    const { url } = buildRequest(operation(), { parameters: [value('id', 'path', '../a b?$&')] }, BASE);
    expect(url).to.equal(`${BASE}v1/products/..%2Fa%20b%3F%24%26`);
    expect(urlOf(value('name.prefix', 'query', 'a&b=c+d é'))).to.equal(
      `${BASE}v1/products?name.prefix=a%26b%3Dc%2Bd%20%C3%A9`,
    );
    expect(urlOf(value('attributes.a b:c&d', 'query', '1'))).to.equal(`${BASE}v1/products?attributes.a%20b:c%26d=1`);
  });

  it('omits empty parameters', () => {
    expect(urlOf(value('limit', 'query', ''), value('sort', 'query', '', { isList: true }))).to.equal(
      `${BASE}v1/products`,
    );
  });

  it('separates the values of a list as the document declares', () => {
    expect(urlOf(value('sort', 'query', 'name,-id', { isList: true, explode: false }))).to.match(/\?sort=name,-id$/);
    expect(urlOf(value('tag', 'query', 'a,b', { isList: true }))).to.match(/\?tag=a&tag=b$/);
    expect(urlOf(value('name', 'query', 'a,b'))).to.match(/\?name=a%2Cb$/);
  });

  it('carries the entered headers and the selected media types', () => {
    const { headers, body } = buildRequest(
      operation(),
      {
        parameters: [value('If-Match', 'header', '"1"'), value('Prefer', 'header', '')],
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
    expect(buildRequest(operation(), { parameters: [] }, BASE).headers).to.deep.equal([]);
  });

  it('replaces half of a surrogate pair, as browsers do', () => {
    const body = { type: 'text/plain', text: 'a\ud800' };
    const request = buildRequest(operation(), { parameters: [value('a\udfff', 'query', '\ud800😀')], body }, BASE);
    expect(request.url).to.match(/\?a%EF%BF%BD=%EF%BF%BD%F0%9F%98%80$/);
    expect(request.body).to.equal('a\ufffd');
  });
});
