import type { HttpClient, HttpResponse, RequestOptions } from './http-client.js';

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

export function basic(id: string, secret: string): Record<string, string> {
  return { Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
}

/** Posts a form unchanged to the token endpoint. */
export function requestToken(client: HttpClient, form: string, options: RequestOptions = {}): Promise<HttpResponse> {
  const headers = { ...FORM, ...options.headers };
  return client.post('/oauth/token', form, { token: null, ...options, headers });
}

/** Requests an access token for an API key. */
export async function accessToken(client: HttpClient, id: number, key: string, scope = ''): Promise<string> {
  const form = new URLSearchParams({ grant_type: 'client_credentials', scope });
  return (await requestToken(client, String(form), { headers: basic(String(id), key) })).json.access_token;
}

/** Returns a `fetch` that uses a client that trusts the service under test. */
export function fetchBy(client: HttpClient) {
  return async (url: string, init: { method: string; headers: Record<string, string>; body?: unknown }) => {
    const { pathname, search, port } = new URL(url);
    if (Number(port) !== client.port) throw new Error(`${url} is not the service under test`);
    const body = init.body === undefined || init.body === null ? undefined : String(init.body);
    const response = await client.request(init.method, pathname + search, { token: null, headers: init.headers, body });
    const headers = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]);
    return new Response(response.text === '' ? null : response.text, { status: response.status, headers });
  };
}
