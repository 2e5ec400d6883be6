import type { ResponseErrorCode } from '../response/error-codes.js';
import { acceptPatch, type Method, type Operation, type Policy, type Route } from '../route.js';
import type { Components } from './components.js';
import type { OperationDescription, ResponseDescription } from './description.js';
import { describedErrors, OAUTH_ERROR_SCHEMAS } from './error-responses.js';
import { DescribedHeaders, type RequestHeader, type ResponseHeader } from './header-objects.js';
import { ID } from './resource-schemas.js';

/** What all routes with the same access have in common. */
export interface Mounting {
  readonly headers: readonly ResponseHeader[];
  readonly errors: readonly ResponseErrorCode[];
}

/** What all requests have in common. */
export interface GlobalHeaders {
  readonly requestHeaders: readonly RequestHeader[];
  /** The additional headers of OPTIONS. */
  readonly preflightHeaders: readonly RequestHeader[];
  readonly preflightResponseHeaders: readonly ResponseHeader[];
}

const OF_DEPRECATED: readonly ResponseHeader[] = ['Deprecation', 'Sunset', 'Link'];

const ID_PARAMETER = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the record. With anything but a number in this place, the address does not exist.',
  schema: ID,
};

type DescribedOperation = Operation & { readonly description: OperationDescription };

/** Makes the Path Item Object of a route (OpenAPI 3.1 section 4.8.9). */
export class DescribedRoute {
  private readonly headers: DescribedHeaders;
  private readonly mounting: Mounting;
  private readonly operations: readonly [Method, DescribedOperation][];

  constructor(
    private readonly route: Route,
    mounting: Mounting,
    private readonly globalHeaders: GlobalHeaders,
    private readonly components: Components,
  ) {
    this.headers = new DescribedHeaders(components, route.version ?? 1);
    const { deprecation } = route;
    const all = Object.entries(route.operations) as [Method, Operation][];
    this.operations = all.map(([method, operation]) => [
      method,
      { ...operation, description: operation.describe() },
    ]);
    this.mounting = deprecation
      ? { ...mounting, headers: [...mounting.headers, ...OF_DEPRECATED] }
      : mounting;
  }

  pathItem(): object {
    const { route } = this;
    const described = this.operations.flatMap(([method, operation]) => [
      [method.toLowerCase(), this.operation(operation)],
      ...(method === 'GET' ? [['head', this.head(operation)]] : []),
    ]);
    const variables = [
      ...(route.template.includes('{id}') ? [this.components.share('parameters', 'Id', ID_PARAMETER)] : []),
      ...Object.entries(route.variables ?? {}).map(variable),
    ];
    return {
      ...(variables.length > 0 && { parameters: variables }),
      ...Object.fromEntries(described),
      options: this.options(variables.length > 0),
    };
  }

  private operation(operation: DescribedOperation): object {
    const { id, tag, summary, text, bodies, schemas = {} } = operation.description;
    this.components.schemas(schemas);
    return {
      operationId: id,
      tags: [tag],
      ...this.deprecated(),
      summary,
      ...(text && { description: text }),
      ...this.requested(operation),
      ...(bodies && { requestBody: { required: true, content: bodies } }),
      responses: this.responses(operation, true),
    };
  }

  private head(operation: DescribedOperation): object {
    const { id, tag, summary } = operation.description;
    return {
      operationId: renamed(id, 'head'),
      tags: [tag],
      ...this.deprecated(),
      summary: `${summary}: headers only`,
      ...this.requested(operation),
      responses: this.responses(operation, false),
    };
  }

  /** @param hasVariables whether the path can name something that does not exist */
  private options(hasVariables: boolean): object {
    const { mounting } = this;
    const codes: readonly ResponseErrorCode[] = hasVariables
      ? [...mounting.errors, 'not_found']
      : mounting.errors;
    const [{ id, tag, errorShape: shape }] = this.operations.map(([, { description }]) => description) as [
      OperationDescription,
    ];
    const { requestHeaders, preflightHeaders, preflightResponseHeaders } = this.globalHeaders;
    const responded = [...mounting.headers, 'Allow' as const, ...preflightResponseHeaders];
    return {
      operationId: renamed(id, 'options'),
      tags: [tag],
      ...this.deprecated(),
      summary: 'List the methods of this address',
      security: [],
      parameters: this.headers.requested([...requestHeaders, ...preflightHeaders]),
      responses: {
        204: {
          description: '`Allow` lists the methods.',
          headers: this.headers.responded(
            acceptPatch(this.route).length > 0 ? [...responded, 'Accept-Patch'] : responded,
          ),
        },
        ...describedErrors(
          { verb: 'options', codes, headers: mounting.headers, shape, hasBody: true },
          this.components,
          this.headers,
        ),
      },
    };
  }

  private deprecated(): object {
    return this.route.deprecation ? { deprecated: true } : {};
  }

  private requested(operation: DescribedOperation): object {
    const { query = [], headers = [], requiredHeaders = [], security } = operation.description;
    return {
      security: security ?? securityOf(operation, this.route),
      parameters: [
        ...query.map((parameter) => ({ ...parameter, in: 'query' })),
        ...this.headers.required(requiredHeaders),
        ...this.headers.requested([...headers, ...this.globalHeaders.requestHeaders]),
      ],
    };
  }

  private responses(operation: DescribedOperation, hasBody: boolean): object {
    const { mounting } = this;
    const { id, responses, errors = [], errorHeaders = [], errorShape: shape } = operation.description;
    const verb = hasBody ? verbOf(id) : 'head';
    if (shape) this.components.schemas(OAUTH_ERROR_SCHEMAS);
    const codes = [...errors, ...errorsOf(operation, this.route), ...mounting.errors];
    const headers = [...mounting.headers, ...errorHeaders];
    return {
      ...Object.fromEntries(responses.map((response) => [response.status, this.response(response, hasBody)])),
      ...describedErrors({ verb, codes, headers, shape, hasBody }, this.components, this.headers),
    };
  }

  private response(response: ResponseDescription, hasBody: boolean): object {
    const { description, headers = [], optionalHeaders = [], content, links } = response;
    return {
      description,
      headers: {
        ...this.headers.responded([...this.mounting.headers, ...headers]),
        ...this.headers.optional(optionalHeaders),
      },
      ...(content && hasBody && { content }),
      ...(links && hasBody && { links }),
    };
  }
}

function variable([name, values]: [string, readonly string[]]): object {
  return { name, in: 'path', required: true, schema: { type: 'string', enum: values } };
}

/** The errors that follow from the operation itself. */
function errorsOf(operation: Operation, { access }: Route): ResponseErrorCode[] {
  const { ensureExists, scope } = operation;
  const errors: ResponseErrorCode[] = [];
  if ('consumes' in operation) errors.push('payload_too_large', 'unsupported_media_type');
  if (ensureExists) errors.push('not_found');
  if (access === 'bearer') errors.push('invalid_token', 'token_expired');
  if (scope) errors.push('unauthenticated', 'insufficient_scope');
  return errors;
}

/** An API key or an access token of any issuer. If neither is required, one that is sent is still checked. */
function securityOf({ scope }: Policy, { access }: Route): object[] {
  if (access !== 'bearer') return [];
  const scopes = scope ? [scope] : [];
  const credentials = [{ bearer: scopes }, { oauth2: scopes }];
  return scope ? credentials : [{}, ...credentials];
}

function verbOf(id: string): string {
  return /^[a-z]+/.exec(id)?.[0] ?? '';
}

/** `headProducts` from `listProducts`. */
function renamed(id: string, verb: string): string {
  return verb + id.slice(verbOf(id).length);
}
