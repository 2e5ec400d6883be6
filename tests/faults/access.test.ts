import { credentialContract } from './access.contract.js';

await credentialContract({});
await credentialContract({ PUBLIC_READ: 'products' });
