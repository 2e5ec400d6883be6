import type { DocumentKind, Operation, ResourceKind } from '../core/route.js';
import { ISSUER_METADATA, KEYS, RESOURCE_METADATA, TOKEN } from './oauth-descriptions.js';
import { OpenApiResource } from './openapi-resource.js';
import type { OperationDescription } from './operation-description.js';
import {
  CONSOLE,
  CONSOLE_FILE,
  DOCS,
  DOCS_FILE,
  LIVENESS,
  OPENAPI,
  READINESS,
  rootDescription,
} from './page-descriptions.js';
import {
  changesDescription,
  createDescription,
  deleteDescription,
  facetsDescription,
  importDescription,
  issueDescription,
  listDescription,
  patchDescription,
  putDescription,
  readDescription,
  replaceDescription,
  revokeDescription,
} from './resource-descriptions.js';
import {
  attemptsDescription,
  registerDescription,
  renewDescription,
  reviseDescription,
  testDescription,
} from './webhook-descriptions.js';

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

/** The description of each other operation. A missing kind does not compile. */
const DOCUMENTS: Readonly<Record<DocumentKind, OperationDescription>> = {
  liveness: LIVENESS,
  readiness: READINESS,
  openapi: OPENAPI,
  docs: DOCS,
  docsFile: DOCS_FILE,
  console: CONSOLE,
  consoleFile: CONSOLE_FILE,
  token: TOKEN,
  issuerMetadata: ISSUER_METADATA,
  resourceMetadata: RESOURCE_METADATA,
  keys: KEYS,
};

export function descriptionOf(operation: Operation): OperationDescription {
  const { purpose } = operation;
  if ('resource' in purpose) {
    const mediaTypes = 'consumes' in operation ? Object.keys(operation.consumes) : [];
    const resource = new OpenApiResource(purpose.resource, purpose.requireIfMatch, purpose.key);
    return RESOURCE_OPERATIONS[purpose.kind](resource, mediaTypes);
  }
  return purpose.kind === 'root' ? rootDescription(purpose.links) : DOCUMENTS[purpose.kind];
}
