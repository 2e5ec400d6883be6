import { credentialContract } from './access.contract.js';

/** Some of each kind. `campaigns/faults/access.test.ts` sends every credential. */
await credentialContract({ PUBLIC_READ: 'products' }, 8);
