import { openMemory } from '../support/open-memory.js';
import { codePointOrderContract, repositoryContract } from './repository.contract.js';

repositoryContract('memory', openMemory);
codePointOrderContract('memory', openMemory);
