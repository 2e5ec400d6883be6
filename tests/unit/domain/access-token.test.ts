import { expect } from 'chai';
import { phasesOf, type SigningKey } from '#src/domain/access-token.js';
import type { Versioned } from '#src/domain/record.js';

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);

function key(id: number, minutes: number): Versioned<SigningKey> {
  const at = START + minutes * MINUTE;
  const fields = { kid: `k${id}`, algorithm: 'RS256', privateJwk: '{}' };
  return { id, version: 1, createdAt: at, updatedAt: at, fields };
}

describe('the phases of signing keys', () => {
  const at = (minutes: number, keys: Versioned<SigningKey>[]) =>
    phasesOf(keys, START + minutes * MINUTE).map((phased) => `${phased.key.id} ${phased.phase}`);

  it('let the first key sign immediately', () => {
    expect(at(0, [key(1, 0)])).to.deep.equal(['1 signing']);
    expect(at(100_000, [key(1, 0)])).to.deep.equal(['1 signing']);
    expect(at(0, [])).to.deep.equal([]);
  });

  it('publish a new key for ten minutes before it signs, and trust the old one for twenty more', () => {
    const keys = [key(2, 100), key(1, 0)];
    expect(at(100, keys)).to.deep.equal(['1 signing', '2 next']);
    expect(at(109.99, keys)).to.deep.equal(['1 signing', '2 next']);
    expect(at(110, keys)).to.deep.equal(['1 past', '2 signing']);
    expect(at(129.99, keys)).to.deep.equal(['1 past', '2 signing']);
    expect(at(130, keys)).to.deep.equal(['1 retired', '2 signing']);
  });

  it('trust every key that signed recently after rotations in quick succession', () => {
    const keys = [key(1, 0), key(2, 100), key(3, 101), key(4, 115)];
    expect(at(112, keys)).to.deep.equal(['1 past', '2 past', '3 signing', '4 next']);
    expect(at(130.5, keys)).to.deep.equal(['1 retired', '2 past', '3 past', '4 signing']);
  });

  it('let the oldest key sign if none is old enough, so one signs after a revocation', () => {
    expect(at(1, [key(2, 0), key(3, 1)])).to.deep.equal(['2 signing', '3 next']);
    expect(at(-5, [key(2, 0)])).to.deep.equal(['2 signing']);
  });
});
