import type { ResourceDefinition } from '#src/adapters/inbound/http/core/resource-definition.js';
import { MemoryIdempotencyStore } from '#src/adapters/outbound/memory/expiring.js';
import type { Repository } from '#src/application/ports/repository.js';
import { IdAllocator } from '#src/application/records/id-allocator.js';
import { RecordService, type RecordServiceDependencies } from '#src/application/records/record-service.js';
import { CountingBackoff, FakeClock } from './fakes.js';
import { ENDLESS } from './tables.js';

/** The use cases of one resource over a repository, with a frozen clock, and these parts in the place of others. */
export function recordService<Fields>(
  records: Repository<Fields>,
  view: ResourceDefinition<Fields>,
  parts: Partial<RecordServiceDependencies<Fields>> = {},
): RecordService<Fields> {
  return new RecordService({
    records,
    view,
    fields: view.fields,
    reservations: new MemoryIdempotencyStore(),
    ids: new IdAllocator(records),
    rules: {},
    clock: new FakeClock(),
    backoff: new CountingBackoff(),
    budget: ENDLESS,
    ...parts,
  });
}
