import fc from 'fast-check';

/**
 * Any character but a lone surrogate. fast-check's own `unit: 'binary'` makes a table of all characters, which takes a
 * second for each arbitrary.
 */
export const CHARACTER: fc.Arbitrary<string> = fc
  .oneof(fc.integer({ min: 0, max: 0xff }), fc.integer({ min: 0, max: 0x10ffff }))
  .filter((codePoint) => codePoint < 0xd800 || codePoint > 0xdfff)
  .map((codePoint) => String.fromCodePoint(codePoint));

/** Syllables and signs that meet the rules of normalisation: few, so that random texts find each other. */
const PARTS = [
  ...['a', 'A', 'á', 'a\u0301', 'Å', 'ﬁ', 'ß', 'ẞ', 'SS', 'ǅ', 'x²'],
  ...['i', 'I', 'İ', 'ı', 'ş'],
  ...['æ', 'ae', 'Ǽ', 'Œ', 'ø', 'Ǿ', 'o', 'Đ', 'ð', 'd', 'Þ', 'th', 'Ł', 'l', 'ħ', 'Ŧ', 'ŋ', 'ŉ'],
  ...['Σ', 'σ', 'ς', 'ό', 'ΐ', 'ᾳ'],
  ...['Ё', 'е', 'й', 'Й'],
  ...['ש', 'שׁ', 'ָ', 'ﬡ'],
  ...['س', 'سَ', 'ﷺ', 'ٱ', 'ـ'],
  ...['हि', 'न्', 'दी', 'क़', '५'],
  ...['ก', 'กำ', 'เ', 'ื่', '๕', 'ລາ', 'ໍາ', 'ខ្', 'មែ', 'မြ', 'န်'],
  ...['東', '京', '々', '〇', '⼀', '㈱', '豈', '𠮷'],
  ...['か', 'が', 'ガ', 'ｶﾞ', 'ー', 'ヽ', '゛'],
  ...['한', '하', 'ㅎ', 'ᄒ', '국'],
  ...['👍', '👨‍👩‍👧', '❤️', '🇩🇪', '½', '１', '1', '٣'],
  ...[' ', ' ', ' ', '-', '_', "'", '’', 'ʼ', '.', '\u00ad', '\u200b', '\u200d', '\u2060', '\ufeff', '·', '\n'],
];

/** Random texts in many scripts. */
export const TEXTS: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.array(fc.constantFrom(...PARTS), { maxLength: 8 }).map((parts) => parts.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: CHARACTER, maxLength: 6 }) },
);

/** A text of one run of a script without spaces, which has a word for each character. */
export function longText(length: number): string {
  let seed = 1;
  return Array.from({ length }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return String.fromCharCode(0x4e00 + (seed % 20_000));
  }).join('');
}
