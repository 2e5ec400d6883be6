import { credentialContract } from '../faults/access.contract.js';

/** Some of each kind. `tests/faults/access.test.ts` sends every credential. */
await credentialContract({ PUBLIC_READ: 'products' }, 8);
