import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ApiKeyFormat } from '../../../application/ports/api-key-format.js';
import { API_KEY_SHAPE } from '../../../domain/access.js';

const PREFIX = 'pcs_';
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;

/** `pcs_`, then 30 random base62 characters (178 bits), then the CRC-32 of these 34 in 6 more. */
export class ChecksummedApiKey implements ApiKeyFormat {
  generate(): string {
    const random = Array.from({ length: RANDOM_LENGTH }, () => BASE62[randomInt(BASE62.length)]);
    const body = PREFIX + random.join('');
    return body + checksum(body);
  }

  isWellFormed(key: string): boolean {
    return (
      API_KEY_SHAPE.test(key) && checksum(key.slice(0, -CHECKSUM_LENGTH)) === key.slice(-CHECKSUM_LENGTH)
    );
  }

  digest(key: string): string {
    return hash('sha256', key, 'hex');
  }
}

/** Six characters hold every CRC-32, because 62^6 is more than 2^32. */
function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    text = BASE62[rest % BASE62.length] + text;
    rest = Math.floor(rest / BASE62.length);
  }
  return text;
}
