import { inProcessService } from '../support/in-process-service.js';
import type { LocalStore } from '../support/local-stores.js';
import { Collection, type ResourceUnderTest } from './resource/collection.js';
import { describeConditions, describeRequiredConditions } from './resource/conditions.js';
import { describeDelete } from './resource/delete.js';
import { describeGet } from './resource/get.js';
import { describeIdempotency } from './resource/idempotency.js';
import { describeImport } from './resource/import.js';
import { describeJsonPatch } from './resource/json-patch.js';
import { describeMessages } from './resource/messages.js';
import { describePatch } from './resource/patch.js';
import { describePost } from './resource/post.js';
import { describePut } from './resource/put.js';
import { describeValidation } from './resource/validation.js';

const PARTS = [
  describePost,
  describeIdempotency,
  describeImport,
  describeValidation,
  describeGet,
  describePut,
  describePatch,
  describeJsonPatch,
  describeDelete,
  describeMessages,
  describeConditions,
];

/** The store and the form of the path that a contract test uses. */
interface Target {
  readonly store: LocalStore;
  readonly prefix: '/v1' | '';
}

const IN_MEMORY: Target = { store: 'memory', prefix: '/v1' };

/**
 * Tests the operations on records, which are the same for every resource, store and form of the path.
 *
 * Every resource runs in memory under `/v1`. Other stores and paths need one resource only: the repository contract
 * tests the stores, and authorization-matrix.test.ts compares the two forms of each path.
 */
export function resourceContract(resource: ResourceUnderTest, others: readonly Target[] = []): void {
  for (const { store, prefix } of [IN_MEMORY, ...others]) {
    const path = `${prefix}/${resource.plural}`;
    describe(`the resource contract, ${path} on ${store}`, () => {
      const collection = startCollection(resource, path, { STORE: store });
      for (const describePart of PARTS) describePart(collection);
    });
  }

  describe(`REQUIRE_IF_MATCH and ${resource.plural}`, () => {
    describeRequiredConditions(
      startCollection(resource, `/v1/${resource.plural}`, { REQUIRE_IF_MATCH: 'true' }),
    );
  });
}

function startCollection(
  resource: ResourceUnderTest,
  path: string,
  settings: Record<string, string>,
): Collection {
  const service = inProcessService(settings);
  before(() => resource.prepare?.(service.client));
  return new Collection(resource, path, service);
}
