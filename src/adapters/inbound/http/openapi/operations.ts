import { descriptionOf as descriptionOfField } from '../../../../domain/validation.js';
import type { ResponseErrorCode } from '../core/error-codes.js';
import { JSON_TYPE } from '../core/media-types.js';
import { NO_PARAMETERS, type Parameter } from '../core/parameter.js';
import { tagOf } from '../core/resource-definition.js';
import type { Operation, PathKey, Policy, Purpose, ResourceKind, Route } from '../core/route.js';
import { readIdempotencyKey } from '../parameters/request-headers.js';
import {
  attemptsDescription,
  issueDescription,
  registerDescription,
  renewDescription,
  reviseDescription,
  revokeDescription,
  TOKEN,
  testDescription,
} from './admin-descriptions.js';
import type { Components } from './components.js';
import { codeList, errorResponses } from './error-responses.js';
import { type RequestHeader, requestHeaders, responseHeaders } from './headers.js';
import {
  changesDescription,
  createDescription,
  deleteDescription,
  facetsDescription,
  importDescription,
  listDescription,
  OpenApiResource,
  type OperationDescription,
  patchDescription,
  putDescription,
  type ResponseDescription,
  readDescription,
  replaceDescription,
} from './resource-descriptions.js';
import { ID, valueSchema } from './schemas.js';

/** What all path items share. */
export interface SharedParts {
  readonly components: Components;
  /** The request headers that are required wherever they are accepted. */
  readonly requiredHeaders: readonly RequestHeader[];
  /** The errors that every request can get. */
  readonly commonErrors: readonly ResponseErrorCode[];
}

const ID_PARAMETER = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the record. With anything but an integer from 1, the path does not exist.',
  schema: ID,
  example: 1,
};

/** The Path Item Object of a route (OpenAPI 3.1 section 4.8.9). @returns undefined if no operation has a purpose */
export function pathItem(route: Route, shared: SharedParts): object | undefined {
  const operations = Object.entries(route.operations as Readonly<Record<string, Operation>>).flatMap(
    ([method, operation]) =>
      operation.purpose
        ? [[method.toLowerCase(), operationObject(route, operation, operation.purpose, shared)] as const]
        : [],
  );
  if (operations.length === 0) return undefined;
  const parameters = [
    ...(route.template.includes('{id}') ? [shared.components.share('parameters', 'Id', ID_PARAMETER)] : []),
    ...(route.key ? [keyParameter(route.key)] : []),
  ];
  return { ...(parameters.length > 0 && { parameters }), ...Object.fromEntries(operations) };
}

function operationObject(
  route: Route,
  operation: Operation,
  purpose: Purpose,
  { components, requiredHeaders, commonErrors }: SharedParts,
): object {
  const mediaTypes = 'consumes' in operation ? Object.keys(operation.consumes) : [];
  const description = descriptionOf(purpose, mediaTypes);
  const { id, summary, headers = [], bodies, responses } = description;
  components.schemas(description.schemas);
  const parameters = [
    ...(operation.parameters ?? NO_PARAMETERS).all.map(parameterObject),
    ...requestHeaders(headers, components, requiredHeaders),
  ];
  const errors = [...new Set([...(description.errors ?? []), ...errorsOf(operation)])]
    .filter((code) => !commonErrors.includes(code))
    .sort();
  return {
    operationId: id,
    tags: [purpose.kind === 'token' ? OAUTH_TAG : tagOf(purpose.resource.docs)],
    ...(route.deprecation && { deprecated: true }),
    summary,
    description: textOf(description, operation),
    ...accessOf(operation, route),
    ...(parameters.length > 0 && { parameters }),
    ...(bodies && { requestBody: { required: true, content: bodies } }),
    responses: {
      ...Object.fromEntries(responses.map((response) => [response.status, responseObject(response, components)])),
      ...errorResponses(components, errors),
    },
    'x-error-codes': errors,
  };
}

/** The tag of the token endpoint. */
export const OAUTH_TAG = 'OAuth 2.0';

/** @param mediaTypes those of the body */
type DescribeResource = (resource: OpenApiResource, mediaTypes: readonly string[]) => OperationDescription;

/** The description of each kind of operation of a resource. A missing kind does not compile. */
const RESOURCE_OPERATIONS: Readonly<Record<ResourceKind, DescribeResource>> = {
  list: listDescription,
  facets: facetsDescription,
  changes: changesDescription,
  read: readDescription,
  create: createDescription,
  import: importDescription,
  replace: replaceDescription,
  put: putDescription,
  patch: patchDescription,
  delete: deleteDescription,
  issue: issueDescription,
  revoke: revokeDescription,
  register: registerDescription,
  revise: reviseDescription,
  renew: renewDescription,
  attempts: attemptsDescription,
  test: testDescription,
};

function descriptionOf(purpose: Purpose, mediaTypes: readonly string[]) {
  if (purpose.kind === 'token') return TOKEN;
  const resource = new OpenApiResource(purpose.resource, purpose.requireIfMatch, purpose.key);
  return { schemas: resource.schemas, ...RESOURCE_OPERATIONS[purpose.kind](resource, mediaTypes) };
}

function parameterObject({ name, isList, docs }: Parameter): object {
  return { name, in: 'query', ...docs, ...(isList && { explode: false }) };
}

function textOf({ text }: OperationDescription, { scopes = [] }: Policy): string {
  return scopes.length === 0 ? text : `${text}\n\nScope: ${codeList(scopes).replaceAll(', ', ' and ')}.`;
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

/** The errors that follow from the operation itself. */
function errorsOf(operation: Operation): ResponseErrorCode[] {
  const bodies = 'consumes' in operation ? operation.consumes : {};
  const handlers = Object.values(bodies);
  const hasCursor = operation.parameters?.all.some(({ code }) => code === 'invalid_cursor');
  return [
    ...(handlers.length > 0 ? (['unsupported_media_type'] as const) : []),
    ...(JSON_TYPE in bodies ? (['malformed_json', 'validation_failed'] as const) : []),
    // A stream has no limit, and a line over its own limit gets a result of its own.
    ...(handlers.some(({ read }) => read) ? (['payload_too_large'] as const) : []),
    ...(operation.headers === readIdempotencyKey
      ? (['invalid_idempotency_key', 'idempotency_key_reused'] as const)
      : []),
    ...(hasCursor ? (['invalid_cursor', 'cursor_mismatch'] as const) : []),
    ...(operation.ensureExists ? (['not_found'] as const) : []),
  ];
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
