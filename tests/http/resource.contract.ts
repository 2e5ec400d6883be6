import { inProcessService } from '../support/in-process-service.js';
import type { LocalStore } from '../support/local-stores.js';
import { Collection, type ResourceUnderTest } from './resource/collection.js';
import { conditions, requiredConditions } from './resource/conditions.js';
import { deletion } from './resource/delete.js';
import { reading } from './resource/get.js';
import { idempotency } from './resource/idempotency.js';
import { importing } from './resource/import.js';
import { jsonPatch } from './resource/json-patch.js';
import { messages } from './resource/messages.js';
import { change } from './resource/patch.js';
import { creation } from './resource/post.js';
import { replacement } from './resource/put.js';
import { issues } from './resource/validation.js';

const PARTS = [
  creation,
  idempotency,
  importing,
  issues,
  reading,
  replacement,
  change,
  jsonPatch,
  deletion,
  messages,
  conditions,
];

/** Where a resource is asked: in a store, at the address with the version or at the one without. */
export interface Location {
  readonly store: LocalStore;
  readonly prefix: '/v1' | '';
}

const IN_MEMORY: Location = { store: 'memory', prefix: '/v1' };

/**
 * What can be done with a record is the same for every resource, in every store, at both of its addresses. The contract of
 * repositories holds the stores to one behaviour and tests/http/authorization-matrix.test.ts the addresses, so one resource stands for all
 * in each other place.
 */
export function resourceContract(resource: ResourceUnderTest, others: readonly Location[] = []): void {
  for (const { store, prefix } of [IN_MEMORY, ...others]) {
    const path = `${prefix}/${resource.plural}`;
    describe(`the contract of resources, ${path} on ${store}`, () => {
      const all = running(resource, path, { STORE: store });
      for (const part of PARTS) part(all);
    });
  }

  describe(`REQUIRE_IF_MATCH, of ${resource.plural}`, () => {
    requiredConditions(running(resource, `/v1/${resource.plural}`, { REQUIRE_IF_MATCH: 'true' }));
  });
}

function running(resource: ResourceUnderTest, path: string, settings: Record<string, string>): Collection {
  const service = inProcessService(settings);
  before(() => resource.prepare?.(service.client));
  return new Collection(resource, path, service);
}
