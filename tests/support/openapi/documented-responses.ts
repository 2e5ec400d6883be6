import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { ERRORS, type ResponseErrorCode } from '#src/adapters/inbound/http/response/error-codes.js';
import { MAX_ID } from '#src/domain/record.js';
import type { HttpResponse } from '../http-client.js';
import { type Location, type Node, OpenApiDocument } from './document.js';

export type AnyResponse = Pick<HttpResponse, 'status' | 'headers' | 'bytes'>;

/** The headers that OpenAPI ignores or describes by other means (version 3.1, section 4.8.17.1). */
const TRANSPORT = ['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'];

/** The errors of a path that does not exist. */
const ANYWHERE: readonly ResponseErrorCode[] = [
  'not_found',
  'rate_limited',
  'https_required',
  'invalid_parameter',
  'request_timeout',
  'uri_too_long',
  'headers_too_large',
  'internal_error',
];

/** The errors of a method that the path does not have. */
const ANY_METHOD: readonly ResponseErrorCode[] = [
  ...ANYWHERE,
  'method_not_allowed',
  'unauthenticated',
  'invalid_token',
  'token_expired',
  'unavailable',
];

/** Compares responses with the OpenAPI document of the service. */
export class DocumentedResponses {
  private readonly document: OpenApiDocument;
  private readonly paths: readonly { readonly path: string; readonly pattern: RegExp }[];

  constructor(root: object) {
    this.document = new OpenApiDocument(root);
    const { paths } = this.document.root;
    this.paths = Object.entries<Node>(paths).map(([path, item]) => ({
      path,
      pattern: patternOf(path, item),
    }));
  }

  /**
   * @param target the path with its query
   * @throws Error with everything in the response that the document does not describe
   */
  check(method: string, target: string, response: AnyResponse): void {
    throwIfAny(`${method} ${target}`, response, this.issues(method, target, response));
  }

  /** Checks the status and headers of a response whose body is not received yet. */
  checkHead(method: string, target: string, response: Omit<AnyResponse, 'bytes'>): void {
    const whole = { ...response, bytes: Buffer.alloc(0) };
    throwIfAny(`${method} ${target}`, whole, this.issues(method, target, whole, true));
  }

  /** Checks a response to unknown bytes: the document must describe its headers and the schema of its error. */
  checkAnywhere(response: AnyResponse): void {
    const known = this.document.at('components', 'headers')?.node;
    const names = Object.keys(known).map((name) => name.replace(/-\d+$/, '').toLowerCase());
    const headers = Object.keys(response.headers).filter((name) => ![...TRANSPORT, ...names].includes(name));
    const codes = Object.keys(ERRORS) as ResponseErrorCode[];
    const errors = response.status < 400 ? [] : this.issuesElsewhere(response, codes);
    throwIfAny('the sent bytes', response, [...headers.map((name) => `the header ${name}`), ...errors]);
  }

  private issues(
    method: string,
    target: string,
    response: AnyResponse,
    isHead = method === 'HEAD',
  ): string[] {
    const [path = '', query = ''] = target.split('?');
    const known = this.known(path, String(response.headers['api-version']));
    const operation = ['paths', known, method.toLowerCase()];
    if (!this.document.at(...operation)) return this.issuesElsewhere(response, known ? ANY_METHOD : ANYWHERE);
    const steps = [...operation, 'responses', response.status];
    if (!this.document.at(...steps)) {
      // A well-known path may have a suffix, which exists only if it is the path of PUBLIC_URL.
      return path in this.document.root.paths || !path.startsWith('/.well-known/')
        ? [`the status ${response.status}`]
        : this.issuesElsewhere(response, ANYWHERE);
    }
    const headers = this.headerIssues([...steps, 'headers'], response);
    if (isHead || response.status === 304) return headers;
    const isWhole = !new URLSearchParams(query).has('fields');
    return [...headers, ...this.bodyIssues([...steps, 'content'], response, isWhole)];
  }

  /** @param version the version of the response, for a path without a version */
  private known(path: string, version: string): string {
    const all = this.paths.filter(({ pattern }) => exists(path, pattern)).map((known) => known.path);
    return all.find((one) => one.startsWith(`/v${version}/`)) ?? all[0] ?? '';
  }

  /** Returns the issues of all headers, including missing required ones. */
  private headerIssues(steps: Steps, { headers }: AnyResponse): string[] {
    const described = this.document.at(...steps)?.node ?? {};
    const names = new Map(Object.keys(described).map((name) => [name.toLowerCase(), name]));
    const present = Object.entries(headers).filter(([name]) => !TRANSPORT.includes(name));
    const missing = [...names].filter(
      ([key, name]) => !(key in headers) && this.document.at(...steps, name)?.node.required,
    );
    return [
      ...present.flatMap(([key, value]) =>
        this.headerIssue([...steps, names.get(key) ?? key], String(value)),
      ),
      ...missing.map(([key]) => `no header ${key}`),
    ];
  }

  private headerIssue(steps: Steps, value: string): string[] {
    const schema = this.document.at(...steps, 'schema');
    const name = steps.at(-1);
    if (!schema) return [`the header ${name}`];
    const read = schema.node.type === 'integer' ? Number(value) : value;
    return this.document.issues(schema, read).map((issue) => `the header ${name}: ${issue}`);
  }

  /** @param isWhole whether records have all their fields */
  private bodyIssues(steps: Steps, { headers, bytes }: AnyResponse, isWhole: boolean): string[] {
    const body = decoded(bytes, headers['content-encoding']);
    const type = headers['content-type']?.split(';')[0];
    if (type === undefined && body.length === 0) return [];
    const schema = this.document.at(...steps, type ?? '', 'schema');
    if (!schema) return [`a body of the type ${type}`];
    if (schema.node.type !== 'string') return this.jsonIssues(schema, JSON.parse(body.toString()), isWhole);
    const line = this.document.at(...steps, type ?? '', 'schema', 'contentSchema', 'items');
    if (!line) return [];
    const lines = body.toString().split('\n').slice(0, -1);
    return lines.flatMap((text) => this.jsonIssues(line, JSON.parse(text), isWhole));
  }

  /** Of the two alternatives of a record, the first one has all fields. */
  private jsonIssues(schema: Location, value: unknown, isWhole: boolean): string[] {
    const { node, pointer } = schema;
    if (isWhole && node.anyOf) return this.document.issues({ node, pointer: `${pointer}/anyOf/0` }, value);
    if (isWhole && node.items?.anyOf && Array.isArray(value))
      return value.flatMap((each) =>
        this.jsonIssues({ node: node.items, pointer: `${pointer}/items` }, each, true),
      );
    return this.document.issues(schema, value);
  }

  /** Without an operation, only an error is possible. It has the common schema. */
  private issuesElsewhere(response: AnyResponse, codes: readonly ResponseErrorCode[]): string[] {
    const { status, headers, bytes } = response;
    if (bytes.length === 0) return status < 400 ? [`the status ${status}`] : [];
    const error = JSON.parse(bytes.toString());
    const isProblem = headers['content-type'] === 'application/problem+json';
    const name = `${'error' in error ? 'OAuth' : ''}${isProblem ? 'Problem' : 'Error'}`;
    const schema = this.document.at('components', 'schemas', name);
    return [
      ...(schema ? this.document.issues(schema, error) : [`an error in the shape ${name}`]),
      ...(codes.includes(error.code) && ERRORS[error.code as ResponseErrorCode].status === status
        ? []
        : [`the code ${error.code} with the status ${status}`]),
    ];
  }
}

function exists(path: string, pattern: RegExp): boolean {
  const [, id] = pattern.exec(path) ?? [];
  return pattern.test(path) && !(Number(id) > MAX_ID);
}

function throwIfAny(
  request: string,
  { status, headers, bytes }: AnyResponse,
  issues: readonly string[],
): void {
  if (issues.length === 0) return;
  const text = `${status} ${JSON.stringify(headers)} ${bytes.toString('utf8', 0, 500)}`;
  throw new Error(`undocumented: the response to ${request} was ${text}\n${issues.join('\n')}`);
}

type Steps = readonly (string | number)[];

/** Matches a path with or without its version. A well-known path may end with the path of the public URL. */
function patternOf(path: string, { parameters = [] }: Node): RegExp {
  const [, version = '', rest = path] = /^(\/v\d+)(\/.*)$/.exec(path) ?? [];
  const optional = version && `(?:${version})?`;
  const more = path.startsWith('/.well-known/') ? '(?:/.*)?' : '';
  const pattern = rest.replaceAll('.', '\\.').replace('{id}', '([1-9][0-9]{0,15})');
  const whole = parameters.reduce(
    (text: string, { name, schema }: Node) => text.replace(`{${name}}`, `(?:${schema?.enum?.join('|')})`),
    pattern,
  );
  return new RegExp(`^${optional}${whole}${more}$`);
}

function decoded(bytes: Buffer, coding: string | undefined): Buffer {
  if (bytes.length === 0 || coding === undefined) return bytes;
  return coding === 'br' ? brotliDecompressSync(bytes) : gunzipSync(bytes);
}
