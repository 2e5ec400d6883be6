import { hash, randomInt } from 'node:crypto';
import type { ApiKeyFormat } from '../../../application/ports/api-key-format.js';
import { BASE62, isWellFormedKey, keyChecksum } from '../../../shared/api-key-format.js';

const PREFIX = 'pcs_';
const RANDOM_LENGTH = 30;

/** `pcs_`, then 30 random base62 characters (178 bits), then the CRC-32 of these 34 in 6 more. */
export class ChecksummedApiKey implements ApiKeyFormat {
  generate(): string {
    const random = Array.from({ length: RANDOM_LENGTH }, () => BASE62[randomInt(BASE62.length)]);
    const body = PREFIX + random.join('');
    return body + keyChecksum(body);
  }

  isWellFormed(key: string): boolean {
    return isWellFormedKey(key);
  }

  digest(key: string): string {
    return hash('sha256', key, 'hex');
  }
}
