import { expect } from 'chai';
import fc from 'fast-check';
import {
  decidingWords,
  matchesText,
  matchesWords,
  queryWords,
  recordText,
  recordWords,
  rulesVersion,
  SEARCH_RULES,
} from '#src/application/records/search-words.js';
import { findsByDefinition } from '../../../support/reference-search.js';
import { longText, TEXTS } from '../../../support/unicode-texts.js';

const finds = (query: string, text: string) =>
  matchesWords(queryWords(query), recordWords({ searched: ['name'] }, { name: text }));

describe('the words of a search', () => {
  const found: [query: string, text: string][] = [
    ['lam gre', 'Green Lamp'],
    ['cafe', 'Café'],
    ['CAFÉ', 'cafe\u0301'],
    ['strasse', 'STRASSE'],
    ['straße', 'Straße 7'],
    ['istanbul', 'İSTANBUL'],
    ['σοφοσ', 'ΣΟΦΟΣ'],
    ['σοφος', 'Σοφός'],
    ['елка', 'ЕЛКА'],
    ['שלום', 'שָׁלוֹם'],
    ['سلام', 'سَلَام'],
    ['हिन्दी', 'हिन्दी'],
    ['한', '한국'],
    ['ㅎ', '한국'],
    ['京', '東京タワー'],
    ['タワ', '東京タワー'],
    ['ー', 'タワー'],
    ['か', 'がっこう'],
    ['ลาย', 'เครื่องลายคราม'],
    ['phone', '手机phone手机'],
    ['手', 'phone手机'],
    ['2', '42 or 2nd'],
    ['ab', 'x-ab_cd'],
    ['fi', 'ﬁne'],
    ['10', '１０'],
  ];
  for (const [query, text] of found)
    it(`finds ${text} by ${query}`, () => expect(finds(query, text)).to.equal(true));

  const missed: [query: string, text: string][] = [
    ['amp', 'Lamp'],
    ['lamp desk', 'Lamp'],
    ['strasse', 'Straße'],
    ['hone', '手机phone'],
    ['手机phone', '手机phonetic'.slice(1)],
    ['京東', '東京'],
    ['हिनदी', 'हिन्दी'],
  ];
  for (const [query, text] of missed)
    it(`does not find ${text} by ${query}`, () => expect(finds(query, text)).to.equal(false));

  it('finds what the definition finds, in any text', () => {
    fc.assert(
      fc.property(TEXTS, TEXTS, (query, text) => {
        const expected = findsByDefinition(query, text);
        expect(finds(query, text)).to.equal(expected);
        const inText = recordText({ searched: ['name'] }, { name: text });
        expect(matchesText(queryWords(query), inText)).to.equal(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('searches the texts among the attributes, and their values alone', () => {
    const words = recordWords(
      { searched: ['name', 'attributes'] },
      { name: 'Lamp', other: 'hidden', attributes: { colour: 'Dark Green', watts: 7, dimmable: true } },
    );
    expect(words).to.have.members(['lamp', 'dark', 'green']);
  });

  it('has each word once, and none longer than 64 code points', () => {
    const words = recordWords({ searched: ['name'] }, { name: `a A ${'𝒳'.repeat(70)} ${'京'.repeat(70)}` });
    expect(words).to.have.members([
      'a',
      'x'.repeat(64),
      ...Array.from({ length: 64 }, (_, at) => '京'.repeat(at + 1)),
    ]);
  });

  it('makes no more words than are wanted, and one more, and reads no further text', () => {
    let textsRead = 0;
    const fields = (name: string) => ({
      name,
      get description() {
        textsRead++;
        return 'lamp';
      },
    });
    const numbers = Array.from({ length: 1_000 }, (_, at) => `${at}`).join(' ');
    const signs = longText(1_000);
    for (const name of [numbers, signs]) {
      const words = (most?: number) =>
        recordWords({ searched: ['name', 'description'] }, fields(name), 16, most);
      expect(words(100)).to.deep.equal(words().slice(0, 101));
      expect(textsRead, 'texts read for all words').to.equal(1);
      textsRead = 0;
      expect(words(100)).to.have.length(101);
      expect(textsRead, 'texts read for some words').to.equal(0);
      expect(words(1_001)).to.deep.equal(words()).and.to.have.length(1_001);
      textsRead = 0;
    }
  });

  it('has the same words, however often a character is repeated that normalising makes several words of', () => {
    const words = (text: string) => recordWords({ searched: ['name'] }, { name: text });
    expect(words('\ufdfa\ufdfa')).to.have.length(5);
    for (const text of ['\ufdfa', '\ufdfaé ', 'a\ufdfa', '\ufdfa\u0301', '\ufdfa京ﷻ'])
      expect(words(text.repeat(300))).to.deep.equal(words(text.repeat(2)));
  });

  it('has no words where nothing is searched', () => {
    expect(recordWords({ searched: [] }, { name: 'Lamp' })).to.deep.equal([]);
  });

  it('drops words that another word of the query implies', () => {
    expect(decidingWords(['lamp', 'lam', 'b', 'lamp', 'a'])).to.deep.equal(['a', 'b', 'lamp']);
  });

  it('has rules whose version grows with that of Unicode', () => {
    expect(rulesVersion('15.1')).to.be.above(rulesVersion('15.0')).and.below(rulesVersion('16.0'));
    expect(SEARCH_RULES).to.equal(rulesVersion(process.versions['unicode'] ?? ''));
  });
});
