import { openPostgresql } from '../support/open-postgresql.js';
import { HAS_POSTGRESQL } from '../support/postgresql-server.js';
import { archiveContract } from './archive.contract.js';
import { idempotencyStoreContract } from './idempotency-store.contract.js';
import { purgeableContract } from './purgeable.contract.js';
import {
  codePointOrderContract,
  listFilterContract,
  repositoryContract,
  wordSearchContract,
  writeRacesContract,
} from './repository.contract.js';
import { usagePurgeContract, usageStoreContract } from './usage-store.contract.js';

if (HAS_POSTGRESQL)
  describe('PostgreSQL', () => {
    repositoryContract('PostgreSQL', openPostgresql);
    writeRacesContract('PostgreSQL', openPostgresql);
    listFilterContract('PostgreSQL', openPostgresql);
    wordSearchContract('PostgreSQL', openPostgresql);
    codePointOrderContract('PostgreSQL', openPostgresql);
    idempotencyStoreContract('PostgreSQL', openPostgresql);
    purgeableContract('PostgreSQL', openPostgresql);
    usageStoreContract('PostgreSQL', openPostgresql);
    usagePurgeContract('PostgreSQL', openPostgresql);
    archiveContract('PostgreSQL', openPostgresql);
  });
