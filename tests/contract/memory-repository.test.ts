import { openMemory } from '../support/open-memory.js';
import { idempotencyStoreContract } from './idempotency-store.contract.js';
import { purgeableContract } from './purgeable.contract.js';
import { codePointOrderContract, repositoryContract, writeRacesContract } from './repository.contract.js';
import { usagePurgeContract, usageStoreContract } from './usage-store.contract.js';

repositoryContract('memory', openMemory);
writeRacesContract('memory', openMemory);
codePointOrderContract('memory', openMemory);
idempotencyStoreContract('memory', openMemory);
purgeableContract('memory', openMemory);
usageStoreContract('memory', openMemory);
usagePurgeContract('memory', openMemory);
