import type { ResponseErrorCode } from '../response/error-codes.js';
import { acceptPatch, type Method, type Operation, type Policy, type Route } from '../route.js';
import type { Components } from './components.js';
import type { OperationDescription, ResponseDescription } from './description.js';
import { errorResponses, OAUTH_ERROR_SCHEMAS } from './error-responses.js';
import { HeaderObjects, type RequestHeader, type ResponseHeader } from './header-objects.js';
import { ID } from './resource-schemas.js';

/** The headers and errors of all routes with the same access. */
export interface AccessDefaults {
  readonly headers: readonly ResponseHeader[];
  readonly errors: readonly ResponseErrorCode[];
}

/** The headers of all requests and of all preflights. */
export interface GlobalHeaders {
  readonly requestHeaders: readonly RequestHeader[];
  /** The additional headers of OPTIONS. */
  readonly preflightHeaders: readonly RequestHeader[];
  readonly preflightResponseHeaders: readonly ResponseHeader[];
}

const DEPRECATION_HEADERS: readonly ResponseHeader[] = ['Deprecation', 'Sunset', 'Link'];

const ID_PARAMETER = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the record. With anything but a number in this place, the address does not exist.',
  schema: ID,
};

type DescribedOperation = Operation & { readonly description: OperationDescription };

/** Builds the Path Item Object of a route (OpenAPI 3.1 section 4.8.9). */
export class PathItemBuilder {
  private readonly headers: HeaderObjects;
  private readonly defaults: AccessDefaults;
  private readonly operations: readonly [Method, DescribedOperation][];

  constructor(
    private readonly route: Route,
    defaults: AccessDefaults,
    private readonly globalHeaders: GlobalHeaders,
    private readonly components: Components,
  ) {
    this.headers = new HeaderObjects(components, route.version ?? 1);
    const { deprecation } = route;
    const all = Object.entries(route.operations) as [Method, Operation][];
    this.operations = all.map(([method, operation]) => [
      method,
      { ...operation, description: operation.describe() },
    ]);
    this.defaults = deprecation
      ? { ...defaults, headers: [...defaults.headers, ...DEPRECATION_HEADERS] }
      : defaults;
  }

  build(): object {
    const { route } = this;
    const operations = this.operations.flatMap(([method, operation]) => [
      [method.toLowerCase(), this.operation(operation)],
      ...(method === 'GET' ? [['head', this.head(operation)]] : []),
    ]);
    const variables = [
      ...(route.template.includes('{id}') ? [this.components.share('parameters', 'Id', ID_PARAMETER)] : []),
      ...Object.entries(route.variables ?? {}).map(variable),
    ];
    return {
      ...(variables.length > 0 && { parameters: variables }),
      ...Object.fromEntries(operations),
      options: this.options(variables.length > 0),
    };
  }

  private operation(operation: DescribedOperation): object {
    const { id, tag, summary, text, bodies, schemas = {} } = operation.description;
    this.components.schemas(schemas);
    return {
      operationId: id,
      tags: [tag],
      ...this.deprecatedFlag(),
      summary,
      ...(text && { description: text }),
      ...this.request(operation),
      ...(bodies && { requestBody: { required: true, content: bodies } }),
      responses: this.responses(operation, true),
    };
  }

  private head(operation: DescribedOperation): object {
    const { id, tag, summary } = operation.description;
    return {
      operationId: withVerb(id, 'head'),
      tags: [tag],
      ...this.deprecatedFlag(),
      summary: `${summary}: headers only`,
      ...this.request(operation),
      responses: this.responses(operation, false),
    };
  }

  /** @param hasVariables whether the path has variables, so that it can be 404 */
  private options(hasVariables: boolean): object {
    const { defaults } = this;
    const codes: readonly ResponseErrorCode[] = hasVariables
      ? [...defaults.errors, 'not_found']
      : defaults.errors;
    const [{ id, tag, errorShape: shape }] = this.operations.map(([, { description }]) => description) as [
      OperationDescription,
    ];
    const { requestHeaders, preflightHeaders, preflightResponseHeaders } = this.globalHeaders;
    const responseHeaders = [...defaults.headers, 'Allow' as const, ...preflightResponseHeaders];
    return {
      operationId: withVerb(id, 'options'),
      tags: [tag],
      ...this.deprecatedFlag(),
      summary: 'List the methods of this address',
      security: [],
      parameters: this.headers.request([...requestHeaders, ...preflightHeaders]),
      responses: {
        204: {
          description: '`Allow` lists the methods.',
          headers: this.headers.response(
            acceptPatch(this.route).length > 0 ? [...responseHeaders, 'Accept-Patch'] : responseHeaders,
          ),
        },
        ...errorResponses(
          { verb: 'options', codes, headers: defaults.headers, shape, hasBody: true },
          this.components,
          this.headers,
        ),
      },
    };
  }

  private deprecatedFlag(): object {
    return this.route.deprecation ? { deprecated: true } : {};
  }

  private request(operation: DescribedOperation): object {
    const { query = [], headers = [], requiredHeaders = [], security } = operation.description;
    return {
      security: security ?? securityOf(operation, this.route),
      parameters: [
        ...query.map((parameter) => ({ ...parameter, in: 'query' })),
        ...this.headers.requiredRequest(requiredHeaders),
        ...this.headers.request([...headers, ...this.globalHeaders.requestHeaders]),
      ],
    };
  }

  private responses(operation: DescribedOperation, hasBody: boolean): object {
    const { defaults } = this;
    const { id, responses, errors = [], errorHeaders = [], errorShape: shape } = operation.description;
    const verb = hasBody ? verbOf(id) : 'head';
    if (shape) this.components.schemas(OAUTH_ERROR_SCHEMAS);
    const codes = [...errors, ...errorsOf(operation, this.route), ...defaults.errors];
    const headers = [...defaults.headers, ...errorHeaders];
    return {
      ...Object.fromEntries(
        responses.map((response) => [response.status, this.responseObject(response, hasBody)]),
      ),
      ...errorResponses({ verb, codes, headers, shape, hasBody }, this.components, this.headers),
    };
  }

  private responseObject(response: ResponseDescription, hasBody: boolean): object {
    const { description, headers = [], optionalHeaders = [], content, links } = response;
    return {
      description,
      headers: {
        ...this.headers.response([...this.defaults.headers, ...headers]),
        ...this.headers.optionalResponse(optionalHeaders),
      },
      ...(content && hasBody && { content }),
      ...(links && hasBody && { links }),
    };
  }
}

function variable([name, values]: [string, readonly string[]]): object {
  return { name, in: 'path', required: true, schema: { type: 'string', enum: values } };
}

/** The errors that follow from the policy of the operation. */
function errorsOf(operation: Operation, { access }: Route): ResponseErrorCode[] {
  const { ensureExists, scope } = operation;
  const errors: ResponseErrorCode[] = [];
  if ('consumes' in operation) errors.push('payload_too_large', 'unsupported_media_type');
  if (ensureExists) errors.push('not_found');
  if (access === 'bearer') errors.push('invalid_token', 'token_expired');
  if (scope) errors.push('unauthenticated', 'insufficient_scope');
  return errors;
}

/** The security requirements: an API key or an access token. If neither is required, a sent one is still checked. */
function securityOf({ scope }: Policy, { access }: Route): object[] {
  if (access !== 'bearer') return [];
  const scopes = scope ? [scope] : [];
  const credentials = [{ bearer: scopes }, { oauth2: scopes }];
  return scope ? credentials : [{}, ...credentials];
}

function verbOf(id: string): string {
  return /^[a-z]+/.exec(id)?.[0] ?? '';
}

/** The id with another verb: `headProducts` from `listProducts`. */
function withVerb(id: string, verb: string): string {
  return verb + id.slice(verbOf(id).length);
}
