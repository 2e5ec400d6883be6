import { isKept, type TestStoreProvider } from '../stores/provider.js';
import { archiveContract } from './archive.contract.js';
import { changeFeedContract } from './change-feed.contract.js';
import { generationContract } from './generation.contract.js';
import { idempotencyStoreContract } from './idempotency-store.contract.js';
import { outageContract } from './outage.contract.js';
import { purgeableContract } from './purgeable.contract.js';
import { reopenedContract } from './reopened.contract.js';
import { writeRacesContract } from './repository.contract.js';
import { usagePurgeContract, usageStoreContract } from './usage-store.contract.js';

/**
 * The tests that every store passes besides `repositoryContract`.
 */
export function storeContract(provider: TestStoreProvider): void {
  writeRacesContract(provider);
  changeFeedContract(provider);
  generationContract(provider);
  idempotencyStoreContract(provider);
  usageStoreContract(provider);
  if (!provider.removesExpired) {
    purgeableContract(provider);
    usagePurgeContract(provider);
  }
  if (isKept(provider)) {
    archiveContract(provider);
    reopenedContract(provider);
  }
  if (provider.startServer) outageContract(provider, provider.startServer);
}
