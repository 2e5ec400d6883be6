import { expect } from 'chai';
import { newApiKey } from '#src/adapters/outbound/system/random.js';
import { credentialDigest } from '#src/application/auth/credential-cache.js';
import { isWellFormedKey } from '#src/shared/api-key-format.js';

/** The CRC-32 of `pcs_` and thirty zeros is 0x09D31E43 by another implementation (Python's zlib). */
const KNOWN = `pcs_${'0'.repeat(30)}0B9c15`;

describe('an API key as text', () => {
  it('generates keys that are well-formed and all different', () => {
    const keys = Array.from({ length: 200 }, newApiKey);
    for (const key of keys) {
      expect(key).to.match(/^pcs_[0-9A-Za-z]{36}$/);
      expect(isWellFormedKey(key)).to.equal(true);
    }
    expect(new Set(keys)).to.have.length(200);
  });

  it('pads the checksum on the left with 0', () => {
    expect(isWellFormedKey(KNOWN)).to.equal(true);
  });

  it('rejects a key with one changed character, and a shorter or longer key', () => {
    for (let at = 0; at < KNOWN.length; at++) {
      const other = KNOWN[at] === '7' ? '8' : '7';
      expect(isWellFormedKey(KNOWN.slice(0, at) + other + KNOWN.slice(at + 1)), `${at}`).to.equal(false);
    }
    for (const text of ['', KNOWN.slice(0, -1), `${KNOWN}0`, ` ${KNOWN}`, `${KNOWN}\n`])
      expect(isWellFormedKey(text)).to.equal(false);
  });

  it('returns SHA-256 as the digest', () => {
    expect(credentialDigest('abc')).to.equal('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
