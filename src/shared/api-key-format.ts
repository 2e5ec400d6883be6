import { crc32 } from 'node:zlib';

/** The shape of an API key. {@link isWellFormedKey} checks the checksum too. */
export const API_KEY_SHAPE = /^pcs_[0-9A-Za-z]{36}$/;

export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKSUM_LENGTH = 6;

/** Whether a text has the shape of an API key, and ends with the checksum of what precedes it. */
export function isWellFormedKey(key: string): boolean {
  return API_KEY_SHAPE.test(key) && keyChecksum(key.slice(0, -CHECKSUM_LENGTH)) === key.slice(-CHECKSUM_LENGTH);
}

/** Returns the CRC-32 in six base62 characters, which hold each one, because 62^6 is more than 2^32. */
export function keyChecksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    text = BASE62[rest % BASE62.length] + text;
    rest = Math.floor(rest / BASE62.length);
  }
  return text;
}

/** Of the form of a key, with a wrong checksum. */
export const EXAMPLE_KEY = 'pcs_0123456789abcdefghijABCDEFGHIJ3qQyZb';
