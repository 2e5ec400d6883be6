import { expect } from 'chai';
import fc from 'fast-check';
import { decidingWords, matchesText, queryWords, recordText, recordWords } from '#src/application/search/tokenizer.js';
import { list } from '../../../support/list.js';
import { finderOf, findsByDefinition } from '../../../support/reference-search.js';
import { longText, TEXTS } from '../../../support/unicode-texts.js';

/** Whether each word of a query is the beginning of a word of the record. */
const matchesWords = (query: readonly string[], words: readonly string[]) =>
  query.every((wanted) => words.some((word) => word.startsWith(wanted)));
const finds = (query: string, text: string) =>
  matchesWords(queryWords(query), recordWords({ searched: ['name'] }, { name: text }));

describe('the words of a search', () => {
  type Search = [query: string, text: string];
  const pairs = (texts: readonly string[]) => texts.map((pair) => pair.split(' in ') as Search);
  const found: Search[] = [
    ...pairs(list`lam gre in Green Lamp  cafe in Café  strasse in STRASSE  straße in Straße 7  strasse in Straße`),
    ...pairs(list`STRAẞE in strasse  straße in Strasse  istanbul in İSTANBUL  isi in ısı  İSİ in ISI  den in Đèn`),
    ...pairs(list`lodz in Łódź  łódź in LODZ  smorrebrod in Smørrebrød  SMØR in smorrebrod  aeroskobing in ÆRØSKØBING`),
    ...pairs(list`ǣ ǿ in ae o  oeuvre in Œuvre  dor in ðor  thor in Þór  hal in Ħal  tana in Ŧana  ngai in Ŋgai`),
    ...pairs(list`σοφοσ in ΣΟΦΟΣ  σοφος in Σοφός  елка in ЕЛКА  한 in 한국  ㅎ in 한국  か in がっこう`),
    ...pairs(list`京 in 東京タワー  タワ in 東京タワー  ー in タワー  phone in 手机phone手机  手 in phone手机`),
    ...pairs(list`2 in 42 or 2nd  ab in x-ab_cd  fi in ﬁne  10 in １０`),
    ...pairs([
      'CAFÉ in cafe\u0301',
      'lampshade in lamp\u00adshade',
      'lamp\u200bshade in Lampshade',
      'lamp\u2060sha\ufeffde in lampshade',
    ]),
    ['שלום', 'שָׁלוֹם'],
    ['سلام', 'سَلَام'],
    ['हिन्दी', 'हिन्दी'],
    ['ลาย', 'เครื่องลายคราม'],
    ['ລາວ', 'ພາສາລາວ'],
    ['ខ្មែរ', 'ភាសាខ្មែរ'],
    ['စာ', 'မြန်မာစာ'],
    ['می\u200cخواهم', 'میخواهم'],
    ['سلام', 'ســلام'],
  ];
  const missed: Search[] = [
    ...pairs(list`amp in Lamp  lamp desk in Lamp  hone in 手机phone  手机phone in 机phonetic  京東 in 東京`),
    ['हिनदी', 'हिन्दी'],
  ];

  it('find what begins as they do, in every script', () => {
    for (const [query, text] of found) expect(finds(query, text), `${text} by ${query}`).to.equal(true);
    for (const [query, text] of missed) expect(finds(query, text), `${text} by ${query}`).to.equal(false);
  });

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
    expect(words).to.have.members(['a', 'x'.repeat(64), ...Array.from({ length: 64 }, (_, at) => '京'.repeat(at + 1))]);
  });

  describe('of a record with more than 8,000 different words', () => {
    const COUNT = 8_000;
    const signs = longText(9_100);
    const numbers = (count: number) => Array.from({ length: count }, (_, at) => `w${at}`);
    const attributes = (texts: readonly string[]) => Object.fromEntries(texts.map((text, at) => [`k${at}`, text]));
    const records: Record<string, { description: string; attributes?: Record<string, string> }> = {
      'a run': { description: signs },
      'runs of one sign': {
        description: Array.from({ length: 9_100 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join(' '),
      },
      'words with spaces between': { description: numbers(9_100).join(' ') },
      'runs in several fields': {
        description: signs.slice(0, 5_000),
        attributes: attributes([signs.slice(5_000, 7_500), 'lamp', signs.slice(7_500)]),
      },
      'words of both kinds': {
        description: numbers(5_000).join('京'),
        attributes: attributes([signs.slice(0, 7_000)]),
      },
      'runs that end alike': {
        description: `${signs.slice(0, 5_000)} 京${signs.slice(1_000, 5_000)} 京都${signs.slice(4_990, 5_000)}`,
        attributes: attributes([signs.slice(4_000, 5_000), signs.slice(5_000, 9_100)]),
      },
      'one sign many times': { description: `${'京'.repeat(7_000)} ${signs.slice(0, 2_000)}` },
      'long words with one beginning': {
        description: numbers(9_100)
          .map((word) => 'x'.repeat(64) + word)
          .join(' '),
      },
      'signs beyond U+FFFF': {
        description: Array.from({ length: 9_100 }, (_, at) => String.fromCodePoint(0x20000 + at)).join(''),
      },
      'one word more than count': { description: numbers(COUNT).join(' ') },
      'letters that are spelt with two': { description: `${numbers(COUNT - 1).join(' ')} ß ss lamp` },
    };
    for (const [name, fields] of Object.entries(records))
      it(`counts the first ones: ${name}`, () => {
        const table = { searched: ['name', 'description', 'attributes'] };
        const record = { name: 'first', ...fields };
        const text = [record.name, fields.description, ...Object.values(fields.attributes ?? {})].join('\n');
        const findsIt = finderOf(text);
        const words = recordWords(table, record);
        const inText = recordText(table, record);
        const characters = [...text];
        const isFoundAt = (at: number, length: number): boolean => {
          const query = `first ${characters.slice(at, at + length).join('')}`;
          const expected = findsIt(query);
          expect(matchesWords(queryWords(query), words), query).to.equal(expected);
          expect(matchesText(queryWords(query), inText), query).to.equal(expected);
          return expected;
        };
        // Looks more and more closely where the words end that count.
        for (let low = 0, high = characters.length, step = high; step > 1; ) {
          step = Math.ceil((high - low) / 20);
          const places = Array.from({ length: 21 }, (_, at) => low + at * step);
          const missed = places.find((at) => ![1, 5, 64].every((length) => isFoundAt(at, length)));
          expect(missed).to.be.a('number');
          [low, high] = [Math.max(low, Number(missed) - step), Number(missed)];
        }
        expect(words).to.have.length.of.at.most(COUNT);
      });
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
});
