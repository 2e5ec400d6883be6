import { archiveContract } from '../contract/archive.contract.js';
import { idempotencyStoreContract } from '../contract/idempotency-store.contract.js';
import {
  codePointOrderContract,
  listFilterContract,
  repositoryContract,
  wordSearchContract,
  writeRacesContract,
} from '../contract/repository.contract.js';
import { usageStoreContract } from '../contract/usage-store.contract.js';
import { openMongo } from '../support/open-mongo.js';
import { AT_NIGHT } from '../support/run-settings.js';

repositoryContract('MongoDB', openMongo, AT_NIGHT);
listFilterContract('MongoDB', openMongo, AT_NIGHT);
wordSearchContract('MongoDB', openMongo, AT_NIGHT);
writeRacesContract('MongoDB', openMongo);
codePointOrderContract('MongoDB', openMongo);
idempotencyStoreContract('MongoDB', openMongo);
archiveContract('MongoDB', openMongo);
usageStoreContract('MongoDB', openMongo);
