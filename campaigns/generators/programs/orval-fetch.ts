/** Sends the requests of orval's client: adds the address of the service and the token. */
export async function send<Response>(path: string, options: RequestInit): Promise<Response> {
  const { CATALOGUE_URL, CATALOGUE_TOKEN } = process.env;
  const headers = new Headers(options.headers);
  headers.set('Authorization', `Bearer ${CATALOGUE_TOKEN}`);
  const response = await fetch(`${CATALOGUE_URL}${path}`, { ...options, headers });
  const text = await response.text();
  const data = text === '' ? undefined : JSON.parse(text);
  return { data, status: response.status, headers: response.headers } as Response;
}
