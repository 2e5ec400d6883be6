import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { DERIVED_VERSION } from '#src/application/ports/derived-data.js';
import { recordWords } from '#src/application/search/tokenizer.js';
import { TABLES } from '#src/composition/tables.js';

/** Words that meet each rule of the tokenizer. */
const TEXTS = [
  ...[
    'Green LAMP x2 42',
    'Café ĐÈN Straße ﬁne ΟΔΟΣ',
    'שָׁלוֹם سَلـام',
    'हिन्दी',
    '東京タワー手机',
    'เครื่อง ພາສາ ភាសា မြန်',
  ],
  ...['a\u00adb c\u200bd e\u2060f', '한국', "O'Neill’s dot.ted-and_joined"],
];

describe('the version of derived data', () => {
  it('is increased with every change of what stores derive: then write the new fingerprint here', () => {
    const tables = TABLES.map(({ name, fields, searched }) => {
      const stored = Object.entries(fields).map(
        ([field, { type, isList, unique, ignoresCase, paddedTo }]) => {
          return [field, type, isList, unique, ignoresCase, paddedTo];
        },
      );
      return [name, stored, searched];
    });
    const words = TEXTS.map((text) => recordWords({ searched: ['text'] }, { text }));
    const fingerprint = createHash('sha256')
      .update(JSON.stringify([tables, words]))
      .digest('hex')
      .slice(0, 8);
    expect({ version: DERIVED_VERSION, fingerprint }).to.deep.equal({
      version: 4_000_002,
      fingerprint: 'b654c1d2',
    });
  });
});
