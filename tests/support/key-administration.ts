import { API_KEYS } from '#src/adapters/inbound/http/resources/api-keys.js';
import { MemoryIdempotencyStore, MemoryUsageStore } from '#src/adapters/outbound/memory/expiring.js';
import { newApiKey } from '#src/adapters/outbound/system/random.js';
import { ApiKeyService, type ApiKeyServiceDependencies } from '#src/application/auth/api-keys.js';
import type { Clock } from '#src/application/ports/clock.js';
import type { IdempotencyStore } from '#src/application/ports/idempotency-store.js';
import type { Logger } from '#src/application/ports/logger.js';
import type { Repository } from '#src/application/ports/repository.js';
import { IdAllocator } from '#src/application/records/id-allocator.js';
import type { ApiKey } from '#src/domain/api-key.js';
import { FakeClock, RecordingLogger } from './fakes.js';
import { recordService } from './record-service.js';

/** @param credentials the credential cache of this process; by default nothing is cached */
export function apiKeyService(
  records: Repository<ApiKey>,
  clock: Clock = new FakeClock(),
  credentials: ApiKeyServiceDependencies['credentials'] = { invalidate: () => {} },
  reservations: IdempotencyStore = new MemoryIdempotencyStore(),
  logger: Logger = new RecordingLogger(),
): ApiKeyService {
  const keys = recordService(records, API_KEYS, { reservations, ids: new IdAllocator(records, 1), clock });
  const usage = new MemoryUsageStore();
  return new ApiKeyService({ keys, records, usage, newKey: newApiKey, credentials, clock, logger });
}
