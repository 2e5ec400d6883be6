/**
 * Takes every route of the running service, so that a new route is tested without a change, and sends every method with
 * each credential: none, malformed, unknown, revoked and expired keys, keys and tokens of each scope, and forged
 * tokens. Refused writes leave the store as it was.
 */
import { credentialContract } from '../../tests/cases/access.contract.js';

await credentialContract({});
await credentialContract({ PUBLIC_READ: 'products' });
