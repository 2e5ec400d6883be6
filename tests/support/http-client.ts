import { readFileSync } from 'node:fs';
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { connect as netConnect, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { expect } from 'chai';
import { list } from './list.js';
import type { DocumentedResponses } from './openapi/documented-responses.js';

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as received; it may be compressed. */
  readonly bytes: Buffer;
  /** The parsed body. @throws SyntaxError if it is not JSON */
  // biome-ignore lint/suspicious/noExplicitAny: tests check the body
  readonly json: any;
}

/** Returns the code and the pointer or name of each detail of an error, such as `too_short /name`; none of a success. */
export function issuesOf({ json }: HttpResponse): string[] {
  const details: { code: string; pointer?: string; name?: string }[] = json.details ?? [];
  return details.map(({ code, pointer, name }) => `${code} ${pointer ?? name ?? ''}`);
}

/** Returns the status and the code of an error, and its details as {@link issuesOf} has them. */
export function refusalOf(response: HttpResponse): (number | string)[] {
  return [response.status, response.json.code, ...issuesOf(response)];
}

/** The error codes of each status, copied by hand: a new or moved code changes the contract. */
export const CODES_BY_STATUS = Object.entries({
  400: list`malformed_json  malformed_csv  validation_failed  unknown_parameter  invalid_parameter  invalid_cursor
    cursor_mismatch  query_too_expensive  invalid_patch  invalid_idempotency_key  unsupported_version`,
  401: list`unauthenticated  invalid_token  token_expired`,
  403: list`insufficient_scope  https_required`,
  404: list`not_found`,
  405: list`method_not_allowed`,
  406: list`not_acceptable`,
  408: list`request_timeout`,
  409: list`duplicate_value  patch_test_failed  last_admin_key  limit_reached`,
  410: list`cursor_expired`,
  412: list`precondition_failed`,
  413: list`payload_too_large`,
  414: list`uri_too_long`,
  415: list`unsupported_media_type`,
  417: list`expectation_failed`,
  422: list`idempotency_key_reused`,
  428: list`precondition_required`,
  429: list`rate_limited`,
  431: list`headers_too_large`,
  500: list`internal_error`,
  503: list`unavailable`,
});

/** Expects an error with this code and its status, whatever its details are. @returns the response */
export async function expectRefusal(
  attempt: HttpResponse | Promise<HttpResponse>,
  code: string,
  what = '',
): Promise<HttpResponse> {
  const response = await attempt;
  const [status] = CODES_BY_STATUS.find(([, codes]) => codes.includes(code)) ?? [];
  expect(refusalOf(response).slice(0, 2), `${what} ${response.text}`).to.deep.equal([Number(status), code]);
  return response;
}

/** Expects an error with this code, its status, and these details as {@link issuesOf} has them. @returns the response */
export async function expectIssues(
  attempt: HttpResponse | Promise<HttpResponse>,
  code: string,
  issues: readonly string[],
  what = '',
): Promise<HttpResponse> {
  const response = await expectRefusal(attempt, code, what);
  expect(issuesOf(response), what).to.deep.equal(issues);
  return response;
}

/** Returns the status of each response in the bytes of a connection, with the error code if there is one: `404 not_found`. */
export function statusesIn(text: string): string[] {
  return messagesIn(text).map(({ status, bytes }) => {
    const body = bytes.toString();
    const code = body.startsWith('{') ? JSON.parse(body).code : undefined;
    return code === undefined ? `${status}` : `${status} ${code}`;
  });
}

/** Returns the responses in the bytes of a connection; the last one may be incomplete. */
function messagesIn(text: string): Omit<HttpResponse, 'text' | 'json'>[] {
  return text
    .split(/(?=HTTP\/1\.1 \d\d\d )/)
    .filter((part) => part.startsWith('HTTP/1.1'))
    .map((part) => {
      const [head = '', body = ''] = part.split('\r\n\r\n');
      const fields = head
        .split('\r\n')
        .slice(1)
        .map((line) => line.split(/: (.*)/).slice(0, 2));
      const headers = Object.fromEntries(fields.map(([name = '', value]) => [name.toLowerCase(), value]));
      return { status: Number(part.slice(9, 12)), headers, bytes: Buffer.from(body) };
    });
}

export interface RequestOptions {
  readonly token?: string | null;
  readonly headers?: Record<string, string | string[]>;
  /** A string or bytes are sent unchanged, anything else as JSON. */
  readonly body?: unknown;
  /** Sends the body in chunks, without Content-Length. */
  readonly chunked?: boolean;
  /** The local address to connect from. */
  readonly from?: string;
}

/**
 * A client of the service under test. It trusts only the CA of the service. Without a CA it uses plain HTTP, as a proxy
 * does.
 */
export class HttpClient {
  private readonly ca: Buffer | undefined;
  private readonly agent: HttpAgent;
  /** Rejects each response that the OpenAPI document does not describe. */
  documented: DocumentedResponses | undefined;

  constructor(
    readonly port: number,
    authorityFile: string | undefined,
    readonly token: string,
    private readonly host = authorityFile === undefined ? '127.0.0.1' : 'localhost',
  ) {
    this.ca = authorityFile === undefined ? undefined : readFileSync(authorityFile);
    const pool = { keepAlive: true, maxSockets: 64 };
    this.agent = this.ca ? new HttpsAgent({ ca: this.ca, ...pool }) : new HttpAgent(pool);
  }

  get = (path: string, options?: RequestOptions) => this.request('GET', path, options);
  post = (path: string, body: unknown, options?: RequestOptions) => this.request('POST', path, { body, ...options });
  put = (path: string, body: unknown, options?: RequestOptions) => this.request('PUT', path, { body, ...options });
  patch = (path: string, body: unknown, options?: RequestOptions) => this.request('PATCH', path, { body, ...options });
  delete = (path: string, options?: RequestOptions) => this.request('DELETE', path, options);

  request(
    method: string,
    path: string,
    { token = this.token, headers = {}, body, chunked, from }: RequestOptions = {},
  ): Promise<HttpResponse> {
    const raw = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const sent = {
      ...(token !== null && { Authorization: `Bearer ${token}` }),
      ...(raw !== undefined && { 'Content-Type': 'application/json' }),
      ...(raw !== undefined && !chunked && { 'Content-Length': String(Buffer.byteLength(raw)) }),
      ...headers,
    };
    return new Promise((resolve, reject) => {
      const { host, port, agent } = this;
      const request = (this.ca ? httpsRequest : httpRequest)(
        { host, port, method, path, headers: sent, agent, ...(from && { localAddress: from }) },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const bytes = Buffer.concat(chunks);
            const text = bytes.toString('utf8');
            const received: HttpResponse = {
              status: response.statusCode ?? 0,
              headers: response.headers,
              text,
              bytes,
              get json() {
                return JSON.parse(text);
              },
            };
            try {
              this.documented?.check(method, path, received);
              resolve(received);
            } catch (undocumented) {
              reject(undocumented);
            }
          });
        },
      );
      request.on('error', reject);
      request.end(raw);
    });
  }

  /** Starts a POST of NDJSON. The caller sends the body piece by piece. */
  startLines(path: string, headers: Record<string, string> = {}): ClientRequest {
    const { host, port, agent, token } = this;
    const request = (this.ca ? httpsRequest : httpRequest)({
      host,
      port,
      method: 'POST',
      path,
      agent,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/x-ndjson', ...headers },
    });
    request.once('response', ({ statusCode = 0, headers: responseHeaders }) =>
      this.documented?.checkHead('POST', path, { status: statusCode, headers: responseHeaders }),
    );
    return request;
  }

  /** Opens a new connection, for bytes that no HTTP client sends. */
  connect(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const { host, port, ca } = this;
      const socket = ca ? tlsConnect({ host, port, ca, servername: host }) : netConnect({ host, port });
      socket.once(ca ? 'secureConnect' : 'connect', () => resolve(socket));
      socket.once('error', reject);
    });
  }

  /** Sends bytes unchanged. @returns all received bytes until the connection ended or `until` matched */
  async raw(bytes: string, until?: RegExp): Promise<string> {
    const socket = await this.connect();
    socket.write(bytes, 'latin1');
    const text = await received(socket, until);
    for (const response of messagesIn(text)) if (response.status !== 100) this.documented?.checkAnywhere(response);
    return text;
  }

  /** The number of connections that requests use or keep for later ones. */
  get openConnections(): number {
    const { sockets, freeSockets } = this.agent;
    return [sockets, freeSockets].flatMap((byName) => Object.values(byName)).flat().length;
  }

  close(): void {
    this.agent.destroy();
  }
}

const SENDING = ['get', 'post', 'put', 'patch', 'delete', 'request', 'startLines', 'connect', 'raw'] as const;

/** The methods of a client that send something. */
export type Sender = Pick<HttpClient, (typeof SENDING)[number]>;

/** Returns the methods of a client that exists only when they are called. */
export function senderOf(client: () => HttpClient): Sender {
  const methods = SENDING.map((name) => [
    name,
    (...sent: never[]) => (client()[name] as (...all: never[]) => unknown)(...sent),
  ]);
  return Object.fromEntries(methods);
}

/** Sends requests as a proxy does that ends TLS: the clients' own clocks then verify no certificate. */
export class ProxiedClient extends HttpClient {
  override request(method: string, path: string, options: RequestOptions = {}): Promise<HttpResponse> {
    const headers = { 'X-Forwarded-Proto': 'https', ...options.headers };
    return super.request(method, path, { ...options, headers });
  }
}

/** Returns all received bytes when the connection is closed. It is destroyed if `until` matches. */
export function received(socket: NodeJS.ReadableStream & { destroy(): void }, until?: RegExp): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      if (until?.test(text)) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
}

/** Returns the version in a strong entity tag; NaN without one. */
export function versionIn(etag: string | undefined): number {
  return Number(/^"(\d+)"$/.exec(etag ?? '')?.[1]);
}
