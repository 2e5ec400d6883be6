import { MemoryIdempotencyStore } from '#src/adapters/outbound/memory/idempotency-store.js';
import { ChecksummedApiKey } from '#src/adapters/outbound/tokens/api-key-format.js';
import { type ApiKeyDependencies, ApiKeyUseCases } from '#src/application/api-key-use-cases.js';
import { KeyAdministration } from '#src/application/auth/key-administration.js';
import { LeasedIds } from '#src/application/leased-ids.js';
import type { Clock } from '#src/application/ports/clock.js';
import type { Repository } from '#src/application/ports/repository.js';
import { type ApiKey, apiKeyFaults } from '#src/domain/access.js';
import { CountingBackoff, FakeClock } from './fakes.js';

const FORMAT = new ChecksummedApiKey();

/** @param credentials the cache of the same process; by default that of another */
export function apiKeyUseCases(
  records: Repository<ApiKey>,
  clock: Clock = new FakeClock(),
  credentials: ApiKeyDependencies['credentials'] = { invalidate: () => {} },
): ApiKeyUseCases {
  return new ApiKeyUseCases({
    records,
    reservations: new MemoryIdempotencyStore(),
    ids: new LeasedIds(records),
    rules: { faults: apiKeyFaults, normal: (key) => key },
    clock,
    backoff: new CountingBackoff(),
    format: FORMAT,
    credentials,
  });
}

export function keyAdministration(
  keys: Repository<ApiKey>,
  clock: Clock = new FakeClock(),
): KeyAdministration {
  return new KeyAdministration({ useCases: apiKeyUseCases(keys, clock), keys, format: FORMAT, clock });
}
