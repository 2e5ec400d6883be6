import type { Purpose, ResourceKind } from '../core/route.js';
import { TOKEN } from './oauth-descriptions.js';
import { OpenApiResource } from './openapi-resource.js';
import type { OperationDescription } from './operation-description.js';
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

/** @param mediaTypes those of the body */
export function descriptionOf(purpose: Purpose, mediaTypes: readonly string[]): OperationDescription {
  if (purpose.kind === 'token') return TOKEN;
  const resource = new OpenApiResource(purpose.resource, purpose.requireIfMatch, purpose.key);
  return RESOURCE_OPERATIONS[purpose.kind](resource, mediaTypes);
}
