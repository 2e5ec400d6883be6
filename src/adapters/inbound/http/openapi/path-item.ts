import { descriptionOf as descriptionOfField } from '../../../../domain/rules.js';
import type { ParameterDescription } from '../core/description.js';
import type { ResponseErrorCode } from '../core/error-codes.js';
import type { Access, Method, Operation, PathKey, Policy, Route } from '../core/route.js';
import type { Components } from './components.js';
import { codeList, type ErrorResponses } from './error-responses.js';
import { valueSchema } from './field-schema.js';
import { type RequestHeader, requestHeaders, responseHeaders } from './header-objects.js';
import type { OperationDescription, ResponseDescription } from './operation-description.js';
import { descriptionOf } from './operation-descriptions.js';
import { ID } from './resource-schemas.js';

/** The parts that all path items share. */
export interface SharedParts {
  readonly components: Components;
  readonly errorResponses: ErrorResponses;
  /** The errors of every operation with this access. */
  readonly commonErrors: Readonly<Record<Access, readonly ResponseErrorCode[]>>;
  /** The request headers that are required wherever they are accepted. */
  readonly requiredHeaders: readonly RequestHeader[];
}

const ID_PARAMETER = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the record. With anything but an integer from 1, the path does not exist.',
  schema: ID,
  example: 1,
};

/** The Path Item Object of a route (OpenAPI 3.1 section 4.8.9). */
export function pathItem(route: Route, shared: SharedParts): object {
  const operations = Object.entries(route.operations) as [Method, Operation][];
  const parameters = [
    ...(route.template.includes('{id}') ? [shared.components.share('parameters', 'Id', ID_PARAMETER)] : []),
    ...(route.key ? [keyParameter(route.key)] : []),
    ...Object.entries(route.variables ?? {}).map(variable),
  ];
  return {
    ...(parameters.length > 0 && { parameters }),
    ...Object.fromEntries(
      operations.map(([method, operation]) => [
        method.toLowerCase(),
        operationObject(route, operation, shared),
      ]),
    ),
  };
}

function operationObject(route: Route, operation: Operation, shared: SharedParts): object {
  const { components, errorResponses, commonErrors, requiredHeaders } = shared;
  const description = descriptionOf(operation);
  const { id, tag, summary, query = [], headers = [], bodies, responses, schemas = {} } = description;
  components.schemas(schemas);
  const parameters = [
    ...query.map((parameter) => queryParameter(parameter, components)),
    ...requestHeaders(headers, components, requiredHeaders),
  ];
  const errors = [...(description.errors ?? []), ...errorsOf(operation, route)];
  return {
    operationId: id,
    tags: [tag],
    ...(route.deprecation && { deprecated: true }),
    summary,
    description: textOf(description, operation),
    ...accessOf(operation, route),
    ...(parameters.length > 0 && { parameters }),
    ...(bodies && { requestBody: { required: true, content: bodies } }),
    responses: {
      ...Object.fromEntries(
        responses.map((response) => [response.status, responseObject(response, components)]),
      ),
      ...errorResponses.references(errors, commonErrors[route.access]),
    },
    'x-error-codes': [...new Set(errors)].sort(),
  };
}

/** With the scopes, and the errors that do not follow from the access or the body. */
function textOf({ text, errors = [] }: OperationDescription, { scopes = [] }: Policy): string {
  return [
    text,
    ...(scopes.length > 0 ? [`Scope: ${scopes.map((scope) => `\`${scope}\``).join(' and ')}.`] : []),
    ...(errors.length > 0 ? [`Errors: ${codeList(errors)}.`] : []),
  ].join('\n\n');
}

function queryParameter({ sharedAs, ...parameter }: ParameterDescription, components: Components): object {
  const object = { ...parameter, in: 'query' };
  return sharedAs === undefined ? object : components.share('parameters', sharedAs, object);
}

function responseObject(
  { description, headers = [], content, links, sharedAs }: ResponseDescription,
  components: Components,
): object {
  const object = {
    description,
    ...(headers.length > 0 && { headers: responseHeaders(headers, components) }),
    ...(content && { content }),
    ...(links && { links }),
  };
  return sharedAs === undefined ? object : components.share('responses', sharedAs, object);
}

function keyParameter({ field, rule }: PathKey): object {
  return {
    name: field,
    in: 'path',
    required: true,
    description: `${descriptionOfField(rule)} Percent-encoded. With anything else, the path does not exist.`,
    schema: valueSchema(rule),
    example: rule.example,
  };
}

function variable([name, values]: [string, readonly string[]]): object {
  return {
    name,
    in: 'path',
    required: true,
    description: 'One of these names.',
    schema: { type: 'string', enum: values },
    example: values[0],
  };
}

/** The errors that follow from the policy of the operation. */
function errorsOf(operation: Operation, { access }: Route): ResponseErrorCode[] {
  const { ensureExists, scopes } = operation;
  const errors: ResponseErrorCode[] = [];
  const handlers = 'consumes' in operation ? Object.values(operation.consumes) : [];
  if (handlers.length > 0) errors.push('unsupported_media_type');
  // A stream has no limit, and a line over its own limit gets a result of its own.
  if (handlers.some(({ read }) => read)) errors.push('payload_too_large');
  if (ensureExists) errors.push('not_found');
  if (access === 'bearer') errors.push('invalid_token', 'token_expired');
  if (scopes) errors.push('unauthenticated', 'insufficient_scope');
  return errors;
}

/**
 * The security requirement, if it is not that of the document. The scope is an extension: OpenAPI 3.1 permits it in the
 * requirement of a bearer scheme, but linters reject it there. If no credential is required, one that is sent is still
 * checked.
 */
function accessOf({ scopes }: Policy, { access }: Route): object {
  if (access !== 'bearer') return { security: [] };
  return scopes ? { 'x-scopes': scopes } : { security: [{}, { bearer: [] }] };
}
