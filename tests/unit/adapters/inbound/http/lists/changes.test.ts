import { expect } from 'chai';
import { decodeChangeCursor, encodeChangeCursor } from '#src/adapters/inbound/http/lists/changes.js';
import { encodeCursor } from '#src/adapters/inbound/http/lists/cursor.js';

describe('a cursor of changes', () => {
  const place = { position: 'e1/42', at: 1_790_000_000_000 };

  it('keeps the place, the list and the view', () => {
    for (const view of ['', 'aGFzaA']) {
      const cursor = { list: 'products', view, place };
      expect(decodeChangeCursor(encodeChangeCursor(cursor))).to.deep.equal(cursor);
    }
  });

  it('is none if it is changed, invented or of a list', () => {
    const text = encodeChangeCursor({ list: 'products', view: '', place });
    for (let at = 0; at < text.length; at++)
      expect(decodeChangeCursor(text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1))).to.equal(
        undefined,
      );
    const position = { side: 'after', inclusive: false, values: [1] } as const;
    const ofList = encodeCursor('changes', { position, fingerprint: 'f' });
    for (const other of ['', 'x', text.slice(1), `${text}=`, ofList])
      expect(decodeChangeCursor(other), other).to.equal(undefined);
    for (const wrong of [{ at: 1.5 }, { at: '1' }, { position: 1 }] as object[]) {
      const forged = encodeChangeCursor({ list: 'products', view: '', place: { ...place, ...wrong } });
      expect(decodeChangeCursor(forged), JSON.stringify(wrong)).to.equal(undefined);
    }
  });
});
