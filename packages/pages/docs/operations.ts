import { type Access, accessOf } from './access.js';
import {
  METHODS,
  type Method,
  type OpenApi,
  type OperationObject,
  type Parameter,
  type PathItem,
  type RequestBody,
  type Response,
} from './openapi.js';
import type { References } from './references.js';

/** One method of one path, with its references resolved. */
export interface Operation {
  /** The fragment of its URL in the page. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: string;
  readonly isDeprecated: boolean;
  readonly parameters: readonly Parameter[];
  readonly body?: RequestBody;
  readonly responses: readonly (readonly [status: string, response: Response])[];
  readonly access: Access;
  /** The codes of its error responses, if the document lists them. */
  readonly errorCodes: readonly string[];
}

export interface Group {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

const UNTAGGED = 'other';

/** Groups the operations by tag, in the order of the document's tags. Operations without a tag come last. */
export function groupsOf(document: OpenApi, references: References): Group[] {
  const operations = operationsOf(document, references);
  const described = new Map((document.tags ?? []).map(({ name, description = '' }) => [name, description]));
  const names = new Set([...described.keys(), ...operations.map(({ tag }) => tag)]);
  return [...names]
    .map((name) => ({
      name,
      description: described.get(name) ?? '',
      operations: operations.filter(({ tag }) => tag === name),
    }))
    .filter((group) => group.operations.length > 0);
}

function operationsOf(document: OpenApi, references: References): Operation[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, referable]) => {
    const item = references.resolve<PathItem>(referable);
    return METHODS.flatMap((method) => {
      const found = item[method];
      return found ? [operationOf(document, references, { path, item, method, found })] : [];
    });
  });
}

interface Location {
  readonly path: string;
  readonly item: PathItem;
  readonly method: Method;
  readonly found: OperationObject;
}

function operationOf(document: OpenApi, references: References, location: Location): Operation {
  const { path, method, found } = location;
  return {
    id: (found.operationId ?? `${method}${path}`).replace(/[^\w-]+/g, '-'),
    method: method.toUpperCase(),
    path,
    summary: found.summary ?? '',
    description: found.description ?? '',
    tag: found.tags?.[0] ?? UNTAGGED,
    isDeprecated: found.deprecated ?? false,
    parameters: parametersOf(references, location),
    ...(found.requestBody && { body: references.resolve<RequestBody>(found.requestBody) }),
    responses: Object.entries(found.responses ?? {}).map(
      ([status, response]) => [status, references.resolve<Response>(response)] as const,
    ),
    access: accessOf(found.security ?? document.security ?? [], document, references),
    errorCodes: found['x-error-codes'] ?? [],
  };
}

/** The parameters of an operation override those of its path with the same name and location. */
function parametersOf(references: References, { item, found }: Location): Parameter[] {
  const all = [...(item.parameters ?? []), ...(found.parameters ?? [])];
  const byName = new Map<string, Parameter>();
  for (const referable of all) {
    const parameter = references.resolve<Parameter>(referable);
    byName.set(`${parameter.in} ${parameter.name}`, parameter);
  }
  return [...byName.values()];
}
