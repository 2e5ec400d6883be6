import { openMemory } from '../support/open-memory.js';
import { expiringContract } from './expiring.contract.js';
import { idempotencyStoreContract } from './idempotency-store.contract.js';
import { codePointOrderContract, repositoryContract } from './repository.contract.js';

repositoryContract('memory', openMemory);
codePointOrderContract('memory', openMemory);
idempotencyStoreContract('memory', openMemory);
expiringContract('memory', openMemory);
