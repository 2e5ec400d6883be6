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

/** A few from each address, so that none is refused because of those before. */
export function launch(
  client: HttpClient,
  method: string,
  attack: Attack,
  at: number,
): Promise<HttpResponse> {
  const { authorization, query = '', body } = attack;
  return client.request(method, `/v1/products${query}`, {
    token: null,
    headers: authorization === undefined ? {} : { Authorization: authorization as string | string[] },
    body: body ?? (method === 'POST' ? { name: 'x' } : undefined),
    from: `127.0.1.${1 + Math.floor(at / 15)}`,
  });
}

/** That it was refused as the contract says, and told nothing more. */
export function expectRefused(response: HttpResponse, { name, status, code }: Attack): void {
  expect([response.status, response.json.code], name).to.deep.equal([status, code]);
  expect(Object.keys(response.json), name).to.deep.equal(['code', 'message', 'details']);
  expect(String(response.headers['www-authenticate']), name).to.match(CHALLENGES[code] ?? /never/);
  expect(response.headers['cache-control'], name).to.equal('no-store');
}
