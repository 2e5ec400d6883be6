import { expect } from 'chai';
import type { Attack } from './forged-tokens.js';
import type { HttpClient, HttpResponse } from './http-client.js';

const CHALLENGES: Readonly<Record<string, RegExp>> = {
  unauthenticated: /^Bearer( resource_metadata="[^"]+")?$/,
  invalid_token: /^Bearer error="invalid_token", error_description="[^"\\]+"(, resource_metadata="[^"]+")?$/,
  token_expired:
    /^Bearer error="invalid_token", error_description="The access token has expired\."(, resource_metadata="[^"]+")?$/,
  invalid_parameter: /^undefined$/,
};

/** Sends an attack. At most 15 attacks share an IP address, so none meets the limit on failed authentications. */
export function launch(
  client: HttpClient,
  method: string,
  attack: Attack,
  index: number,
): Promise<HttpResponse> {
  const { authorization, query = '', body } = attack;
  return client.request(method, `/v1/products${query}`, {
    token: null,
    headers: authorization === undefined ? {} : { Authorization: authorization as string | string[] },
    body: body ?? (method === 'POST' ? { name: 'x' } : undefined),
    from: `127.0.1.${1 + Math.floor(index / 15)}`,
  });
}

/** Expects the error that the contract promises, without further information. */
export function expectErrorOf(response: HttpResponse, { name, status, code }: Attack): void {
  expect([response.status, response.json.code], name).to.deep.equal([status, code]);
  expect(Object.keys(response.json), name).to.deep.equal(['code', 'message', 'details']);
  expect(String(response.headers['www-authenticate']), name).to.match(CHALLENGES[code] ?? /never/);
  expect(response.headers['cache-control'], name).to.equal('no-store');
}
