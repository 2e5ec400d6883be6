import type { StoreName } from '#src/composition/stores/index.js';
import { inProcessService } from '../support/in-process-service.js';
import { Collection, type ResourceUnderTest } from './resource/collection.js';
import { describeConditions, describeRequiredConditions, describeWiring } from './resource/conditions.js';
import { describeIdempotency } from './resource/idempotency.js';
import { describeImport } from './resource/import.js';
import { describeJsonPatch } from './resource/json-patch.js';
import { describeMessages } from './resource/messages.js';
import { describeParameters } from './resource/parameters.js';
import { describeDelete, describeGet, describePatch, describePost, describePut } from './resource/records.js';
import { describeValidation } from './resource/validation.js';

/** What a resource itself decides: its paths, fields, schema, references and responseMapper. */
const OWN_PARTS = [describePost, describeValidation, describeGet, describePut, describePatch, describeDelete];
const SHARED_PARTS = [describeMessages, describeIdempotency, describeImport, describeJsonPatch, describeConditions];
const PARTS = { whole: [...OWN_PARTS, ...SHARED_PARTS], own: [...OWN_PARTS, describeWiring] };

/** The store that a contract test uses, and whether it runs all tests. */
interface Target {
  readonly store: StoreName;
  readonly parts: keyof typeof PARTS;
}

/**
 * Tests the operations on records, which are the same code for every resource, store and form of the path.
 *
 * The whole contract runs for one resource, on each store. The other resources run what a resource itself decides, and
 * one case of what it has to be connected to: random-values imports, replaces and patches records of each. The repository contract tests the stores, and
 * authorization-matrix.test.ts compares the two forms of each path.
 */
export function resourceContract(
  resource: ResourceUnderTest,
  targets: readonly Target[] = [{ store: 'memory', parts: 'own' }],
): void {
  const path = `/v1/${resource.plural}`;
  for (const { store, parts } of targets)
    describe(`the resource contract, ${path} on ${store}`, () => {
      const collection = startCollection(resource, path, { STORE: store });
      for (const describePart of PARTS[parts]) describePart(collection);
    });

  describe(`the documented parameters of ${resource.plural}`, () => {
    describeParameters(inProcessService(), resource.plural);
  });

  describe(`REQUIRE_IF_MATCH and ${resource.plural}`, () => {
    describeRequiredConditions(startCollection(resource, path, { REQUIRE_IF_MATCH: 'true' }));
  });
}

function startCollection(resource: ResourceUnderTest, path: string, settings: Record<string, string>): Collection {
  const service = inProcessService(settings);
  before(() => resource.prepare?.(service.client));
  return new Collection(resource, path, service);
}
