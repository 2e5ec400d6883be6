import { randomInt } from 'node:crypto';
import { BASE62, keyChecksum } from '../../../shared/api-key-format.js';

const RANDOM_LENGTH = 30;

/** Returns a new API key: `pcs_`, then 30 random base62 characters (178 bits), then the CRC-32 of these 34 in 6 more. */
export function newApiKey(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => BASE62[randomInt(BASE62.length)]);
  const body = `pcs_${random.join('')}`;
  return body + keyChecksum(body);
}
