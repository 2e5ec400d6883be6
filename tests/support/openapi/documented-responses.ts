import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { ERRORS, type ResponseErrorCode } from '#src/adapters/inbound/http/response/error-codes.js';
import { MAX_ID } from '#src/domain/record.js';
import type { HttpResponse } from '../http-client.js';
import { type Location, type Node, OpenApiDocument } from './document.js';

export type AnyResponse = Pick<HttpResponse, 'status' | 'headers' | 'bytes'>;

/** Of the connection, and what OpenAPI tells by other means (version 3.1, section 4.8.17.1). */
const TRANSPORT = ['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'];

/** How an address that does not exist can answer. */
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

/** How a method can be answered that the address lacks. */
const ANY_METHOD: readonly ResponseErrorCode[] = [
  ...ANYWHERE,
  'method_not_allowed',
  'unauthenticated',
  'invalid_token',
  'token_expired',
  'unavailable',
];

/** Holds answers to what the document of the service says. */
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
   * @param target with its query
   * @throws Error with all that the answer has and the document has not
   */
  check(method: string, target: string, response: AnyResponse): void {
    outcome(`${method} ${target}`, response, this.issues(method, target, response));
  }

  /** As {@link check}, of an answer whose body is not there yet. */
  checkHead(method: string, target: string, response: Omit<AnyResponse, 'bytes'>): void {
    const whole = { ...response, bytes: Buffer.alloc(0) };
    outcome(`${method} ${target}`, whole, this.issues(method, target, whole, true));
  }

  /** Of an answer to whatever was sent: its headers are among those that there are, and an error looks as all do. */
  checkAnywhere(response: AnyResponse): void {
    const known = this.document.at('components', 'headers')?.node;
    const names = Object.keys(known).map((name) => name.replace(/-\d+$/, '').toLowerCase());
    const headers = Object.keys(response.headers).filter((name) => ![...TRANSPORT, ...names].includes(name));
    const codes = Object.keys(ERRORS) as ResponseErrorCode[];
    const errors = response.status < 400 ? [] : this.issuesElsewhere(response, codes);
    outcome('what was sent', response, [...headers.map((name) => `the header ${name}`), ...errors]);
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
      // Beside a well-known address only those are there that the service's own address gives.
      return path in this.document.root.paths || !path.startsWith('/.well-known/')
        ? [`the status ${response.status}`]
        : this.issuesElsewhere(response, ANYWHERE);
    }
    const headers = this.headerIssues([...steps, 'headers'], response);
    if (isHead || response.status === 304) return headers;
    const isWhole = !new URLSearchParams(query).has('fields');
    return [...headers, ...this.bodyIssues([...steps, 'content'], response, isWhole)];
  }

  /** @param version that of the answer, where the address names none */
  private known(path: string, version: string): string {
    const all = this.paths.filter(({ pattern }) => exists(path, pattern)).map((known) => known.path);
    return all.find((one) => one.startsWith(`/v${version}/`)) ?? all[0] ?? '';
  }

  /** Of every header, and whether all are there that have to be. */
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

  /** @param isWhole whether records are shown with all that they have */
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

  /** The first of two forms is the whole one. */
  private jsonIssues(schema: Location, value: unknown, isWhole: boolean): string[] {
    const { node, pointer } = schema;
    if (isWhole && node.anyOf) return this.document.issues({ node, pointer: `${pointer}/anyOf/0` }, value);
    if (isWhole && node.items?.anyOf && Array.isArray(value))
      return value.flatMap((each) =>
        this.jsonIssues({ node: node.items, pointer: `${pointer}/items` }, each, true),
      );
    return this.document.issues(schema, value);
  }

  /** Where there is no operation there is nothing but an error, which looks as all do. */
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

function outcome(
  requested: string,
  { status, headers, bytes }: AnyResponse,
  issues: readonly string[],
): void {
  if (issues.length === 0) return;
  const shown = `${status} ${JSON.stringify(headers)} ${bytes.toString('utf8', 0, 500)}`;
  throw new Error(`undocumented: ${requested} was answered ${shown}\n${issues.join('\n')}`);
}

type Steps = readonly (string | number)[];

/** An address in its two forms; well-known ones with the path of the public address too. */
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
