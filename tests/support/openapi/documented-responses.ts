import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { ErrorObject } from 'ajv/dist/2020.js';
import { ERRORS, type ResponseErrorCode } from '#src/adapters/inbound/http/core/error-codes.js';
import { MAX_ID } from '#src/domain/record.js';
import type { HttpResponse } from '../http-client.js';
import { closed, type Location, type Node, OpenApiDocument } from './document.js';

export type AnyResponse = Pick<HttpResponse, 'status' | 'headers' | 'bytes'>;

/** The headers that OpenAPI ignores or describes by other means (version 3.1, section 4.8.17.1). */
const TRANSPORT = ['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'];

/** The headers of the responses that the introduction of the document describes in words: 405, and 204 to OPTIONS. */
const ALLOW = ['allow', 'accept-patch'];
const OPTIONS_HEADERS = [
  ...ALLOW,
  'access-control-allow-methods',
  'access-control-allow-headers',
  'access-control-max-age',
];

/** Pages, probes and metadata: the document has no operation of them. */
const UNDESCRIBED = /^\/(?:$|openapi\.json$|(?:docs|console|health|\.well-known)(?:\/|$)|oauth\/jwks$)/;

/** The headers that an error has because of its status, and whether it always has them. */
const ERROR_HEADERS: Readonly<Record<number, readonly (readonly [name: string, isRequired: boolean])[]>> = {
  401: [['www-authenticate', false]],
  403: [['www-authenticate', false]],
  412: [['etag', true]],
  415: [['accept-patch', false]],
  429: [['retry-after', true]],
  503: [['retry-after', true]],
};

/** The members that RFC 9457 section 3.1 adds to an error. */
const PROBLEM_MEMBERS: Readonly<Record<string, (value: unknown, status: number) => boolean>> = {
  type: (value) => value === 'about:blank',
  title: (value) => typeof value === 'string',
  status: (value, status) => value === status,
  detail: (value) => typeof value === 'string',
};

interface DescribedHeader {
  readonly schema: Location | undefined;
  readonly isRequired: boolean;
}

/** Compares responses with the OpenAPI document of the service. */
export class DocumentedResponses {
  private readonly document: OpenApiDocument;
  private readonly headers = new Map<string, ReadonlyMap<string, DescribedHeader>>();
  private readonly paths: readonly { readonly path: string; readonly pattern: RegExp }[];

  constructor(root: object) {
    this.document = new OpenApiDocument(closed(root));
    const { paths } = this.document.root;
    this.paths = Object.entries<Node>(paths).map(([path, item]) => ({ path, pattern: patternOf(path, item) }));
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

  /** Checks a response to unknown bytes: the document must describe its headers and its error. */
  checkAnywhere(response: AnyResponse): void {
    throwIfAny('the sent bytes', response, this.issuesAnywhere(response));
  }

  private issuesAnywhere(response: AnyResponse): string[] {
    const names = [
      ...Object.keys(this.document.at('components', 'headers')?.node),
      ...Object.keys(this.document.root['x-response-headers']),
      'ETag',
    ].map((name) => name.toLowerCase());
    const known = [...TRANSPORT, ...OPTIONS_HEADERS, ...names];
    const headers = Object.keys(response.headers).filter((name) => !known.includes(name));
    const errors = response.status < 400 ? [] : this.errorIssues(response, Object.keys(ERRORS));
    return [...headers.map((name) => `the header ${name}`), ...errors];
  }

  private issues(method: string, target: string, response: AnyResponse, isHead = method === 'HEAD'): string[] {
    const [path = '', query = ''] = target.split('?');
    if (UNDESCRIBED.test(path)) return [...this.missing([], response), ...this.issuesAnywhere(response)];
    const known = this.known(path, String(response.headers['api-version']));
    const name = isHead && method === 'HEAD' ? 'get' : method.toLowerCase();
    const operation = ['paths', known, name];
    if (method === 'OPTIONS' || !this.document.at(...operation)) return this.issuesElsewhere(method, known, response);
    const isMinimal =
      ['POST', 'PUT', 'PATCH'].includes(method) && response.headers['preference-applied'] === 'return=minimal';
    // The introduction describes it: PUT and PATCH have 204 instead of 200 then.
    const status = isMinimal && response.status === 204 ? 200 : response.status;
    const { responses, 'x-error-codes': own } = this.document.at(...operation)?.node ?? {};
    const name4xx = status < 500 ? '4XX' : 'default';
    const steps = [...operation, 'responses', status in responses ? status : name4xx];
    if (!(status in responses) && status < 400) return [`the status ${status}`];
    const headers = [
      ...this.versionIssues(known, response),
      ...this.headerIssues([...steps, 'headers'], response, isMinimal ? ['preference-applied'] : []),
    ];
    if (isMinimal && response.bytes.length > 0) return [...headers, 'a body under return=minimal'];
    if (isHead || status === 304) return headers;
    if (status >= 400) return [...headers, ...errorHeaderIssues(response), ...this.errorIssues(response, own)];
    return [...headers, ...this.bodyIssues([...steps, 'content'], response, fieldsIn(query))];
  }

  /** @param version the version of the response, for a path without a version */
  private known(path: string, version: string): string {
    const all = this.paths.filter(({ pattern }) => exists(path, pattern)).map((known) => known.path);
    return all.find((one) => one.startsWith(`/v${version}/`)) ?? all[0] ?? '';
  }

  private versionIssues(known: string, { headers }: AnyResponse): string[] {
    const [, version = '1'] = /^\/v(\d+)\//.exec(known) ?? [];
    return headers['api-version'] === version ? [] : [`the header API-Version: it is not ${version}`];
  }

  /**
   * Returns the issues of all headers, including missing required ones.
   * @param more the names of other allowed headers
   */
  private headerIssues(steps: Steps, { headers }: AnyResponse, more: readonly string[] = []): string[] {
    const described = this.describedHeaders(steps);
    const present = Object.entries(headers).filter(([name]) => !TRANSPORT.includes(name) && !more.includes(name));
    return [
      ...present.flatMap(([name, value]) => this.headerIssue(name, described.get(name)?.schema, String(value))),
      ...this.missing(steps, { headers }),
    ];
  }

  /** The issues of required headers that a response does not have. */
  private missing(steps: Steps, { headers }: Pick<AnyResponse, 'headers'>): string[] {
    const described = [...this.describedHeaders(steps)];
    const missing = described.filter(([name, { isRequired }]) => isRequired && !(name in headers));
    return missing.map(([name]) => `no header ${name}`);
  }

  /** The headers that a response may have, by their names in lower case. */
  private describedHeaders(steps: Steps): ReadonlyMap<string, DescribedHeader> {
    const key = steps.join('\n');
    const known = this.headers.get(key);
    if (known) return known;
    const described = new Map<string, DescribedHeader>();
    for (const all of [['x-response-headers'], steps])
      for (const name of Object.keys(this.document.at(...all)?.node ?? {}))
        described.set(name.toLowerCase(), {
          schema: this.document.at(...all, name, 'schema'),
          isRequired: this.document.at(...all, name)?.node.required === true,
        });
    this.headers.set(key, described);
    return described;
  }

  private headerIssue(name: string, schema: Location | undefined, value: string): string[] {
    if (!schema) return [`the header ${name}`];
    const read = schema.node.type === 'integer' ? Number(value) : value;
    return this.document.issues(schema, read).map((issue) => `the header ${name}: ${issue}`);
  }

  /** @param fields the fields that the request names; undefined if it names none */
  private bodyIssues(steps: Steps, { headers, bytes }: AnyResponse, fields: Fields): string[] {
    const body = decoded(bytes, headers['content-encoding']);
    const type = headers['content-type']?.split(';')[0];
    if (type === undefined && body.length === 0) return [];
    const schema = this.document.at(...steps, type ?? '', 'schema');
    if (!schema) return [`a body of the type ${type}`];
    if (schema.node.type !== 'string') return this.jsonIssues(schema, JSON.parse(body.toString()), fields);
    const line = this.document.at(...steps, type ?? '', 'schema', 'contentSchema', 'items');
    if (!line) return [];
    const lines = body.toString().split('\n').slice(0, -1);
    return lines.flatMap((text) => this.jsonIssues(line, JSON.parse(text), fields));
  }

  /** The document demands that `fields` names the required members of a record; the service also accepts fewer. */
  private jsonIssues(schema: Location, value: unknown, fields: Fields): string[] {
    const isLeftOut = ({ keyword, params, instancePath }: ErrorObject) =>
      keyword === 'required' &&
      /^(?:\/\d+)?$/.test(instancePath) &&
      fields !== undefined &&
      !fields.includes(params['missingProperty']);
    return this.document.issues(schema, value, (error) => !isLeftOut(error));
  }

  /** Without an operation, the introduction of the document says what is possible. */
  private issuesElsewhere(method: string, known: string, response: AnyResponse): string[] {
    const { status } = response;
    const isOptions = method === 'OPTIONS' && known !== '';
    if (status < 400 && !(isOptions && status === 204)) return [`the status ${status}`];
    const own = known === '' || isOptions ? ABSENT_PATH : WRONG_METHOD;
    const steps = ['components', 'responses', 'Failed', 'headers'];
    const headers = this.headerIssues(steps, response, isOptions ? OPTIONS_HEADERS : ALLOW);
    return status < 400 ? headers : [...headers, ...this.errorIssues(response, own)];
  }

  /** @param own the codes of the operation, in addition to those of every request */
  private errorIssues(response: AnyResponse, own: Codes): string[] {
    const { status, headers, bytes } = response;
    if (bytes.length === 0) return [];
    const body = JSON.parse(decoded(bytes, headers['content-encoding']).toString());
    const common: Codes = this.document.root['x-error-codes'];
    const schema = this.document.at('components', 'schemas', 'Error') as Location;
    const isProblem = headers['content-type'] === 'application/problem+json';
    const members = Object.entries(isProblem ? PROBLEM_MEMBERS : {});
    const error = Object.fromEntries(
      Object.entries(body).filter(([name]) => !members.some(([member]) => member === name)),
    );
    return [
      ...members
        .filter(([name, isValid]) => !isValid(body[name], status))
        .map(([name]) => `the member ${name} of a problem`),
      ...this.document.issues(schema, error),
      ...([...own, ...common].includes(body.code) && ERRORS[body.code as ResponseErrorCode].status === status
        ? []
        : [`the code ${body.code} with the status ${status}`]),
    ];
  }
}

/** The document describes the headers of all errors in one response, and each says in words of which status it is. */
function errorHeaderIssues({ status, headers }: AnyResponse): string[] {
  const own = ERROR_HEADERS[status] ?? [];
  const all = new Set(Object.values(ERROR_HEADERS).flatMap((some) => some.map(([name]) => name)));
  return [
    ...own.filter(([name, isRequired]) => isRequired && !(name in headers)).map(([name]) => `no header ${name}`),
    // A method that a path does not have says which patches the path takes.
    ...[...all]
      .filter((name) => name in headers && status !== 405 && !own.some(([one]) => one === name))
      .map((name) => `the header ${name} with the status ${status}`),
  ];
}

type Codes = readonly string[];
type Fields = readonly string[] | undefined;

/** The errors of a path that does not exist, and of a method that a path does not have. */
const ABSENT_PATH: Codes = ['not_found'];
const WRONG_METHOD: Codes = ['not_found', 'method_not_allowed', 'unauthenticated', 'invalid_token', 'token_expired'];

function fieldsIn(query: string): Fields {
  const given = new URLSearchParams(query).getAll('fields');
  return given.length > 0 ? given.join(',').split(',') : undefined;
}

function exists(path: string, pattern: RegExp): boolean {
  const { id, key } = pattern.exec(path)?.groups ?? {};
  return pattern.test(path) && !(Number(id) > MAX_ID) && (key === undefined || isKey(key));
}

/** Whether a segment is a key at all: which ones there are is in other tests. */
function isKey(segment: string): boolean {
  try {
    return !/^\.\.?$/.test(decodeURIComponent(segment));
  } catch {
    return false;
  }
}

function throwIfAny(request: string, { status, headers, bytes }: AnyResponse, issues: readonly string[]): void {
  if (issues.length === 0) return;
  const text = `${status} ${JSON.stringify(headers)} ${bytes.toString('utf8', 0, 500)}`;
  throw new Error(`undocumented: the response to ${request} was ${text}\n${issues.join('\n')}`);
}

type Steps = readonly (string | number)[];

/** Matches a path with or without its version. */
function patternOf(path: string, { parameters = [] }: Node): RegExp {
  const [, version = '', rest = path] = /^(\/v\d+)(\/.*)$/.exec(path) ?? [];
  const optional = version && `(?:${version})?`;
  const pattern = rest.replaceAll('.', '\\.').replace('{id}', '(?<id>[1-9][0-9]{0,15})');
  const whole = parameters.reduce(
    (text: string, { name, schema }: Node) =>
      text.replace(`{${name}}`, schema?.enum ? `(?:${schema.enum.join('|')})` : '(?<key>[^/]+)'),
    pattern,
  );
  return new RegExp(`^${optional}${whole}$`);
}

function decoded(bytes: Buffer, coding: string | undefined): Buffer {
  if (bytes.length === 0 || coding === undefined) return bytes;
  return coding === 'br' ? brotliDecompressSync(bytes) : gunzipSync(bytes);
}
