import { expect } from 'chai';
import Database from 'libsql';
import { ERRORS, exampleOf, type ResponseErrorCode } from '#src/adapters/inbound/http/core/error-codes.js';
import { errorResponse, toCodedError } from '#src/adapters/inbound/http/core/http-error.js';
import { translateError } from '#src/adapters/outbound/sqlite/connection/connection.js';
import { queryTooExpensive } from '#src/domain/errors.js';
import type { HttpClient, HttpResponse } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { middlewareHarness } from '../support/middleware-harness.js';

type ErrorResponse = Pick<HttpResponse, 'status' | 'json'>;

/** @returns the response to an error that cannot be provoked by a request */
function responseOf(thrown: unknown): ErrorResponse {
  const { status, body } = errorResponse(toCodedError(thrown));
  return { status, json: JSON.parse(body) };
}

/** @returns the parsed response of a raw connection */
function parseRaw(text: string): ErrorResponse {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), json: JSON.parse(body) };
}

async function untilRejected(request: () => Promise<HttpResponse>): Promise<HttpResponse> {
  for (;;) {
    const response = await request();
    if (response.status >= 400) return response;
  }
}

describe('the example of an error', () => {
  const service = inProcessService();
  const strict = inProcessService({ RATE_LIMIT_REQUESTS: '600', REQUIRE_IF_MATCH: 'true' });
  const proxied = inProcessService({ TLS: 'proxy', TRUSTED_PROXIES: '127.0.0.1' });
  const timeouts = { handshakeMs: 300, headersMs: 300, requestMs: 600, silenceMs: 1_500 };
  const slow = middlewareHarness((_ctx, next) => next(), timeouts);
  const lamp = { name: 'Lamp', sku: 'L-1', price: { amount: 1, currency: 'EUR' } };
  const patching = { headers: { 'Content-Type': 'application/json-patch+json' } };
  const keyOf = async (client: HttpClient, more: object) =>
    (await client.post('/v1/api-keys', { name: 'x', scopes: ['products:read'], ...more })).json.key;
  const get = (path: string, headers: Record<string, string> = {}) => service.get(path, { headers });

  before(() => service.post('/v1/products', lamp));

  const provoked: Readonly<Record<ResponseErrorCode, () => Promise<ErrorResponse> | ErrorResponse>> = {
    malformed_json: () => service.post('/v1/products', '{"name":"a","name":"b"}'),
    malformed_csv: () => service.post('/v1/products/imports', '', { headers: { 'Content-Type': 'text/csv' } }),
    validation_failed: () => service.post('/v1/products', { name: '', price: { amount: 1 }, colour: 'red' }),
    unknown_parameter: () => get('/v1/products/1?page=2'),
    invalid_parameter: () => get('/v1/products?limit=0'),
    invalid_cursor: () => get('/v1/products?cursor=2'),
    cursor_mismatch: async () => {
      await service.post('/v1/products', { name: 'Desk' });
      const { link } = (await get('/v1/products?limit=1')).headers;
      return get(`/v1/products?sort=name&${/cursor=[\w-]+/.exec(String(link))?.[0]}`);
    },
    query_too_expensive: () => responseOf(queryTooExpensive()),
    invalid_patch: () => service.patch('/v1/products/1', [{ op: 'remove', path: '/x' }], patching),
    invalid_idempotency_key: () => service.post('/v1/products', lamp, { headers: { 'Idempotency-Key': '' } }),
    unsupported_version: () => get('/products', { 'API-Version': '2' }),
    unauthenticated: () => service.get('/v1/products', { token: null }),
    invalid_token: () => service.get('/v1/products', { token: 'x' }),
    token_expired: async () => {
      const token = await keyOf(service.client, { expiresAt: new Date(Date.now() + 1_000).toISOString() });
      return untilRejected(() => service.get('/v1/products', { token }));
    },
    insufficient_scope: async () => service.post('/v1/products', lamp, { token: await keyOf(service.client, {}) }),
    https_required: () => proxied.get('/v1/products'),
    not_found: () => get('/v1/products/99'),
    method_not_allowed: () => service.delete('/v1/products'),
    not_acceptable: () => get('/v1/products', { Accept: 'text/html' }),
    request_timeout: async () => parseRaw(await slow.raw('GET / HTTP/1.1\r\n')),
    duplicate_value: () => service.post('/v1/products', lamp),
    patch_test_failed: () =>
      service.patch('/v1/products/1', [{ op: 'test', path: '/price/amount', value: 2 }], patching),
    limit_reached: () => {
      service.application.storage.webhooks.count = async () => 1_000;
      const webhook = { name: 'x', url: 'https://1.1.1.1/', resources: ['products'], status: 'paused' };
      return service.post('/v1/webhooks', webhook);
    },
    last_admin_key: () => service.delete('/v1/api-keys/1'),
    cursor_expired: async () => {
      const { link } = (await get('/v1/products/changes')).headers;
      await service.application.feedState.reset();
      return get(`/v1/products/changes?${/cursor=[\w-]+/.exec(String(link))?.[0]}`);
    },
    precondition_failed: () => service.put('/v1/products/1', lamp, { headers: { 'If-Match': '"99"' } }),
    payload_too_large: () => service.post('/v1/products', 'x'.repeat(1_048_577)),
    uri_too_long: () => get(`/v1/products?name=${'x'.repeat(8_192)}`),
    unsupported_media_type: () =>
      service.post('/v1/products', '{}', { headers: { 'Content-Type': 'application/x-ndjson' } }),
    expectation_failed: () => get('/v1/products', { Expect: 'a-miracle' }),
    idempotency_key_reused: async () => {
      const headers = { 'Idempotency-Key': 'x' };
      await service.post('/v1/products', { name: 'Chair' }, { headers });
      return service.post('/v1/products', { name: 'Table' }, { headers });
    },
    precondition_required: () =>
      strict.delete('/v1/products/1').then(async (missing) => {
        expect(missing.status).to.equal(404);
        await strict.post('/v1/products', lamp);
        return strict.delete('/v1/products/1');
      }),
    rate_limited: () => untilRejected(() => strict.get('/v1/products')),
    headers_too_large: () => get('/v1/products', { 'X-Long': 'x'.repeat(16_384) }),
    internal_error: () => responseOf(new TypeError('a defect')),
    unavailable: () => responseOf(translateError(new Database.SqliteError('disk full', 'SQLITE_FULL'))),
  };

  for (const [code, provoke] of Object.entries(provoked) as [
    ResponseErrorCode,
    () => Promise<ErrorResponse> | ErrorResponse,
  ][])
    it(`equals the response of the service: ${code}`, async () => {
      const { status, json } = await provoke();
      expect(json).to.deep.equal(exampleOf(code));
      expect(status).to.equal(ERRORS[code].status);
    });
});
