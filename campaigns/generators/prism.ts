import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { HttpClient, type HttpResponse, type RequestOptions } from '../../tests/support/http-client.js';
import { FIRST_KEY } from '../../tests/support/in-process-service.js';
import { linksOf } from '../../tests/support/links.js';
import type { Toolbox } from './toolbox.js';

const MERGE_PATCH = { headers: { 'Content-Type': 'application/merge-patch+json' } };
const JSON_PATCH = { headers: { 'Content-Type': 'application/json-patch+json' } };
const LINES = { headers: { 'Content-Type': 'application/x-ndjson' } };
const FORM = { token: null, headers: { 'Content-Type': 'application/x-www-form-urlencoded' } };

/**
 * Sends the main requests through Prism, which compares each request and each response with the document.
 * @returns how many it compared @throws Error that lists every violation
 */
export async function compareThroughPrism(
  tools: Toolbox,
  document: string,
  service: string,
  authority: string,
): Promise<string> {
  const proxy = await startPrism(await tools.npm(), copyForPrism(document), service, authority);
  const client = new HttpClient(proxy.port, undefined, FIRST_KEY);
  try {
    const problems: string[] = [];
    let count = 0;
    await sendRequests(async (status, method, path, options) => {
      const response = await client.request(method, path, options);
      count += 1;
      if (response.status !== status || violations(response).length > 0)
        problems.push(`${method} ${path}: ${response.status} instead of ${status}: ${response.text}`);
      return response;
    });
    if (problems.length > 0) throw new Error(problems.join('\n'));
    await requireReports(client);
    return `${count} requests`;
  } finally {
    client.close();
    proxy.child.kill();
  }
}

/** Sends a request and expects a status. */
type Send = (status: number, method: string, path: string, options?: RequestOptions) => Promise<HttpResponse>;

async function sendRequests(send: Send): Promise<void> {
  const lamp = { name: 'prism lamp', sku: 'prism-1', price: { amount: 4990, currency: 'EUR' } };
  const attributes = { colour: 'green', watts: 7.5, dimmable: true };
  const key = { headers: { 'Idempotency-Key': 'prism-1' } };
  const created = await send(201, 'POST', '/v1/products', { body: { ...lamp, attributes }, ...key });
  await send(201, 'POST', '/v1/products', { body: { ...lamp, attributes }, ...key });
  await send(422, 'POST', '/v1/products', { body: { name: 'prism desk' }, ...key });
  await send(409, 'POST', '/v1/products', { body: lamp });
  const second = await send(201, 'POST', '/v1/products', { body: { name: 'prism lamp' } });
  const path = `/v1/products/${created.json.id}`;

  const list = '/v1/products?sort=name,-id&limit=1&name.prefix=prism%20';
  const page = await send(200, 'GET', list, { headers: { Prefer: 'count=exact' } });
  await send(200, 'GET', linksOf(page.headers['link'])['next'] ?? '');
  await send(304, 'GET', list, {
    headers: { 'If-None-Match': String((await send(200, 'GET', list)).headers['etag']) },
  });
  await send(200, 'GET', `/v1/products?id.in=${created.json.id},${second.json.id}&price.amount.gte=100`);
  await send(200, 'GET', '/v1/products?attributes.colour=green&createdAt.gt=2020-01-01T00:00:00Z');
  await send(200, 'GET', '/v1/products?fields=id,name,version,updatedAt');
  await send(200, 'GET', '/v1/products', { headers: { Accept: 'application/x-ndjson' } });
  await send(400, 'GET', '/v1/products?cursor=unknown');

  await send(200, 'GET', path);
  await send(200, 'GET', `${path}?fields=id,name,createdAt`);
  await send(404, 'GET', '/v1/products/9007199254740991');
  await send(200, 'PATCH', path, {
    body: { description: 'Brass', sku: null },
    ...MERGE_PATCH,
  });
  const stale = { headers: { 'If-Match': String(created.headers['etag']) } };
  await send(412, 'PUT', path, { body: { name: 'prism desk' }, ...stale });
  await send(200, 'PUT', path, { body: { name: 'prism desk' } });
  await send(412, 'DELETE', path, stale);

  await send(200, 'POST', '/v1/products/imports', {
    body: '{"name":"prism chair"}\n{"nam":"prism"}\n',
    ...LINES,
  });

  const user = await send(201, 'POST', '/v1/users', { body: { name: 'Ann', email: 'prism@example.com' } });
  const userPath = `/v1/users/${user.json.id}`;
  const rename = [
    { op: 'test', path: '/name', value: 'Ann' },
    { op: 'replace', path: '/name', value: 'Ann Arbor' },
  ];
  await send(200, 'PATCH', userPath, { body: rename, ...JSON_PATCH });
  await send(409, 'PATCH', userPath, { body: rename, ...JSON_PATCH });
  await send(400, 'PATCH', userPath, { body: [{ op: 'remove', path: '/sku' }], ...JSON_PATCH });
  const order = { userId: user.json.id, items: [{ productId: second.json.id, quantity: 2 }] };
  await send(201, 'POST', '/v1/orders', { body: order });
  await send(400, 'POST', '/v1/orders', { body: { ...order, userId: 9_007_199_254_740_991 } });
  await send(200, 'GET', `/v1/orders?userId=${user.json.id}`);
  await send(200, 'GET', '/v1/users?email.prefix=prism');

  const issued = await send(201, 'POST', '/v1/api-keys', {
    body: { name: 'prism', scopes: ['products:read'] },
  });
  await send(200, 'GET', '/v1/api-keys');
  const credentials = `client_id=${issued.json.id}&client_secret=${issued.json.key}`;
  await send(200, 'POST', '/oauth/token', { body: `grant_type=client_credentials&${credentials}`, ...FORM });
  await send(401, 'POST', '/oauth/token', {
    body: 'grant_type=client_credentials&client_id=1&client_secret=no',
    ...FORM,
  });
  await send(403, 'POST', '/v1/products', { body: lamp, token: issued.json.key });
  await send(401, 'GET', '/v1/products', { token: 'unknown' });
  await send(204, 'DELETE', `/v1/api-keys/${issued.json.id}`);
  await send(204, 'DELETE', path);
  await send(404, 'GET', path);
}

/** Sends a bad request, and one whose response breaks the copy of the document. @throws Error if one goes unnoticed */
async function requireReports(client: HttpClient): Promise<void> {
  const bad = await client.post('/v1/products', { name: 1 });
  if (!bad.text.includes('/prism/errors#UNPROCESSABLE_ENTITY'))
    throw new Error(`Prism does not report a wrong request: ${bad.text}`);
  const broken = await client.get('/v1/products/facets?fields=brand');
  if (!broken.text.includes('neverSent')) throw new Error(`Prism does not report a wrong response: ${broken.text}`);
}

/** Returns what Prism reports about a request and its response. With `--errors`, it is the body of an error. */
function violations({ headers, text }: HttpResponse): string[] {
  return [String(headers['sl-violations'] ?? ''), /stoplight\.io\/prism\/errors/.exec(text)?.[0] ?? ''].filter(Boolean);
}

/**
 * Writes a copy of the document. It wants a member that no response of the facets has. Of the media types of a user's
 * PATCH it keeps JSON Patch alone, because Prism cannot tell `application/json-patch+json` from
 * `application/merge-patch+json`.
 */
function copyForPrism(document: string): string {
  const copy = JSON.parse(readFileSync(document, 'utf8'));
  copy.components.schemas.Facet.required.push('neverSent');
  const { requestBody } = copy.paths['/v1/users/{id}'].patch;
  requestBody.content = { 'application/json-patch+json': requestBody.content['application/json-patch+json'] };
  const path = `${document}.prism.json`;
  writeFileSync(path, JSON.stringify(copy));
  return path;
}

async function startPrism(
  folder: string,
  document: string,
  service: string,
  authority: string,
): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const args = ['node_modules/@stoplight/prism-cli/dist/index.js', 'proxy', document, service, '--errors', '-p', '0'];
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: authority };
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface(child.stdout)) {
    const port = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (!port) continue;
    child.stdout.resume();
    return { child, port: Number(port) };
  }
  throw new Error(`Prism ended with ${(await once(child, 'close'))[0]}`);
}
