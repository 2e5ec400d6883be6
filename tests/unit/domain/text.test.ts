import { expect } from 'chai';
import fc from 'fast-check';
import { compareText, endOfPrefix, foldCase, isOneLine, NAME, TAG_RULE, validateText } from '#src/domain/text.js';
import { CHARACTER } from '../../support/unicode-texts.js';

/** Any code points, and often those at the boundaries of the UTF-8 and UTF-16 encodings. */
const TEXT = fc.string({
  unit: fc.oneof(
    fc.constantFrom('a', 'b', '\u007f', '\u0080', '\u07ff', '\u0800', '\ud7fe', '\ud7ff', '\ue000', '\uffff'),
    fc.constantFrom('\u{10000}', '\u{103ff}', '\u{10400}', '\u{1f600}', '\u{10fffe}', '\u{10ffff}'),
    CHARACTER,
  ),
  maxLength: 6,
});
const numRuns = 2_000;

describe('compareText', () => {
  it('compares by the bytes of UTF-8', () => {
    fc.assert(
      fc.property(TEXT, TEXT, TEXT, (start, a, b) => {
        const bytes = Buffer.compare(Buffer.from(start + a), Buffer.from(start + b));
        expect(Math.sign(compareText(start + a, start + b))).to.equal(bytes);
      }),
      { numRuns },
    );
  });

  it('orders a text before its continuations, and capital letters before small ones', () => {
    expect(compareText('', 'a')).to.be.below(0);
    expect(compareText('a', 'ab')).to.be.below(0);
    expect(compareText('Z', 'a')).to.be.below(0);
    expect(compareText('9', '10')).to.be.above(0);
  });

  it('orders astral characters after all others, unlike JavaScript', () => {
    expect(compareText('\uffff', '😀')).to.be.below(0);
    expect(compareText('😀', '\ue000')).to.be.above(0);
    expect(compareText('😀', '\ud7ff')).to.be.above(0);
  });

  it('distinguishes a composed letter from its parts', () => {
    expect(compareText('é', 'e\u0301')).to.be.above(0);
  });
});

describe('endOfPrefix', () => {
  it('is greater than every text with the prefix', () => {
    fc.assert(
      fc.property(TEXT, TEXT, (prefix, tail) => {
        const end = endOfPrefix(prefix);
        expect(compareText(prefix + tail, prefix)).to.be.at.least(0);
        if (end !== undefined) expect(compareText(prefix + tail, end)).to.be.below(0);
      }),
      { numRuns },
    );
  });

  it('excludes every text without the prefix', () => {
    fc.assert(
      fc.property(TEXT, TEXT, (prefix, text) => {
        const end = endOfPrefix(prefix);
        const isWithin = compareText(text, prefix) >= 0 && (end === undefined || compareText(text, end) < 0);
        expect(isWithin).to.equal(text.startsWith(prefix));
      }),
      { numRuns },
    );
  });

  it('is a text that UTF-8 can encode', () => {
    fc.assert(
      fc.property(TEXT, (prefix) => {
        const end = endOfPrefix(prefix) ?? '';
        expect(Buffer.from(end).toString()).to.equal(end);
      }),
      { numRuns },
    );
  });

  it('skips the surrogates, and drops trailing characters that have no successor', () => {
    expect(endOfPrefix('a')).to.equal('b');
    expect(endOfPrefix('az')).to.equal('a{');
    expect(endOfPrefix('a\ud7ff')).to.equal('a\ue000');
    expect(endOfPrefix('a\uffff')).to.equal('a\u{10000}');
    expect(endOfPrefix('a\u{10ffff}\u{10ffff}')).to.equal('b');
  });

  it('is undefined if no text is greater', () => {
    expect(endOfPrefix('')).to.equal(undefined);
    expect(endOfPrefix('\u{10ffff}')).to.equal(undefined);
    expect(endOfPrefix('\u{10ffff}\u{10ffff}')).to.equal(undefined);
  });
});

describe('foldCase', () => {
  it('lower-cases A to Z, and leaves everything else unchanged', () => {
    expect(foldCase('AZaz@[`{019_%.')).to.equal('azaz@[`{019_%.');
    for (const other of ['É', 'İ', 'ẞ', 'Σ', '\u212a', 'Ａ', '😀']) expect(foldCase(other)).to.equal(other);
  });

  it('keeps the position of every character', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.oneof(fc.constantFrom('A', 'Z', 'k'), TEXT) }), (text) => {
        const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
        const small = units.map((unit) => (unit >= 65 && unit <= 90 ? unit + 32 : unit));
        expect(foldCase(text)).to.equal(String.fromCharCode(...small));
      }),
      { numRuns },
    );
  });
});

describe('isOneLine', () => {
  it('accepts texts without control characters and lone surrogates', () => {
    expect(['', ' a😀'].map(isOneLine)).to.deep.equal([true, true]);
    expect(['a\n', '\u007f', '\ud800'].map(isOneLine)).to.deep.equal([false, false, false]);
  });
});

for (const [title, rule, others] of [
  ['a name', NAME, ''],
  ['a tag', TAG_RULE, ',|'],
] as const)
  describe(title, () => {
    it('must not consist of white space alone, by the definitions of JavaScript and Unicode', () => {
      const differing: string[] = [];
      for (let point = 0; point <= 0x10ffff; point++) {
        const text = String.fromCodePoint(point);
        const isBlank = /[\s\p{White_Space}\p{Cs}\u0000-\u001f\u007f]/u.test(text);
        const isValid = !isBlank && !others.includes(text);
        if ((validateText(text, rule).length === 0) !== isValid) differing.push(point.toString(16));
      }
      expect(differing).to.deep.equal([]);
      expect(validateText(' \u00a0a\u3000', rule)).to.deep.equal([]);
      expect(validateText(' \u00a0\u3000', rule)).to.deep.equal(['invalid_format']);
    });
  });
