/** Sends the requests of kubb's client: adds the address of the service and the token. */
export interface RequestConfig<Data = unknown> {
  readonly url?: string;
  readonly method?: string;
  readonly params?: object | undefined;
  readonly data?: Data;
  readonly headers?: object;
}

export interface ResponseConfig<Data = unknown> {
  readonly data: Data;
  readonly status: number;
  readonly headers: Headers;
}

export type ResponseErrorConfig<Failure = unknown> = Failure;
export type Client = typeof send;

export default async function send<Data, _Failure = unknown, Body = unknown>({
  url = '',
  method = 'GET',
  params = {},
  data,
  headers = {},
}: RequestConfig<Body>): Promise<ResponseConfig<Data>> {
  const { CATALOGUE_URL, CATALOGUE_TOKEN } = process.env;
  const query = new URLSearchParams(Object.entries(params).map(([name, value]) => [name, String(value)]));
  const response = await fetch(`${CATALOGUE_URL}${url}?${query}`, {
    method,
    headers: { Authorization: `Bearer ${CATALOGUE_TOKEN}`, 'Content-Type': 'application/json', ...headers },
    body: data === undefined ? null : JSON.stringify(data),
  });
  const text = await response.text();
  const { status, headers: received } = response;
  return {
    data: text === '' ? undefined : JSON.parse(text),
    status,
    headers: received,
  } as ResponseConfig<Data>;
}
