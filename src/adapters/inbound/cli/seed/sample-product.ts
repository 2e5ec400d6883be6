import type { Attributes, AttributeValue } from '../../../../domain/attributes.js';
import type { Price, Product } from '../../../../domain/product.js';
import { SampleDraws } from './sample-draws.js';
import {
  SAMPLE_BRANDS,
  SAMPLE_COLOURS,
  SAMPLE_KINDS,
  SAMPLE_LINES,
  SAMPLE_PLACES,
  type SampleKind,
} from './sample-words.js';

export const SAMPLE_PRODUCTS = { min: 1, max: 10_000_000 } as const;
export const SAMPLE_SEED = { min: 0, max: Number.MAX_SAFE_INTEGER, default: 1 } as const;

/** The value of a euro cent in minor units of the currency. The first ones are the most common. */
const CURRENCIES: readonly [[string, number], ...[string, number][]] = [
  ['EUR', 1],
  ['USD', 1.1],
  ['GBP', 0.85],
  ['SEK', 11.5],
  ['PLN', 4.25],
  ['CHF', 0.95],
  ['JPY', 1.6],
  ['KWD', 3.4],
];

const SKU_DIGITS = 5;

/**
 * Returns a realistic product for demonstrations and tests.
 * @param index from 1
 * @returns the same product for the same seed and index; its sku is unique among them
 */
export function sampleProduct(seed: number, index: number): Product & { readonly sku: string } {
  const draws = new SampleDraws(`sample product ${seed}/${index}`);
  const kind = draws.oneOf(SAMPLE_KINDS);
  const [brand, noun, material] = [
    draws.skewedOneOf(SAMPLE_BRANDS),
    draws.oneOf(kind.nouns),
    draws.skewedOneOf(kind.materials),
  ];
  return {
    name: nameOf(draws, brand, material, noun),
    ...(draws.isIn(85) && { description: descriptionOf(draws, brand, material, noun) }),
    sku: `${kind.code}-${base36(seed)}-${base36(index).padStart(SKU_DIGITS, '0')}`,
    ...(draws.isIn(97) && { price: priceOf(draws, kind) }),
    ...(draws.isIn(95) && { attributes: attributesOf(draws, material) }),
  };
}

function base36(number: number): string {
  return number.toString(36).toUpperCase();
}

function nameOf(draws: SampleDraws, brand: string, material: string, noun: string): string {
  const parts = [
    draws.isIn(0.1) && '🌿',
    draws.isIn(90) && brand,
    draws.isIn(60) && draws.skewedOneOf(SAMPLE_LINES),
    draws.isIn(45) && capitalised(material),
    noun,
    draws.isIn(35) && variantOf(draws),
  ];
  return parts.filter(Boolean).join(' ');
}

function variantOf(draws: SampleDraws): string {
  return draws.oneOf([
    () => `${draws.integer(1, 60) * 5} cm`,
    () => `No. ${draws.integer(1, 99)}`,
    () => `${draws.oneOf(['A', 'K', 'M', 'S', 'X', 'Z'])}-${draws.integer(1, 90) * 10}`,
    () => `(pack of ${draws.integer(2, 12)})`,
    () => `½ × ${draws.integer(2, 9)}`,
  ])();
}

function descriptionOf(draws: SampleDraws, brand: string, material: string, noun: string): string {
  const location = draws.oneOf(SAMPLE_PLACES);
  const sentences = [
    `${capitalised(noun.toLowerCase())} by ${brand}, ${material}, in ${draws.skewedOneOf(SAMPLE_COLOURS)}.`,
    draws.isIn(60) && `Designed in ${location} and made to be used every day.`,
    draws.isIn(40) &&
      `Measures ${draws.integer(4, 240)} × ${draws.integer(4, 180)} × ${draws.integer(1, 90)} cm.`,
    draws.isIn(30) && 'Wipe clean with a damp cloth; keep away from strong sunlight.',
    draws.isIn(25) && `Arrives within ${draws.integer(2, 21)} days in a box of recycled cardboard.`,
    draws.isIn(10) && `In the box:\n- ${noun}\n- care booklet\n- ${draws.integer(1, 8)} spare parts`,
    draws.isIn(5) && `« ${noun} » – wie gemacht für ${location}.`,
  ];
  return sentences.filter(Boolean).join(' ');
}

/** Most prices are near the lowest of the kind, and most are slightly below a round number. */
function priceOf(draws: SampleDraws, { price: [low, high] }: SampleKind): Price {
  const [currency, rate] = draws.skewedOneOf(CURRENCIES);
  const exact = Math.floor((low + (high - low) * draws.skewed()) * rate);
  const isCharming = exact > 500 && draws.isIn(70);
  return { amount: isCharming ? exact - (exact % 100) - 1 : exact, currency };
}

function attributesOf(draws: SampleDraws, material: string): Attributes {
  const candidates: readonly [percent: number, key: string, value: () => AttributeValue][] = [
    [85, 'colour', () => draws.skewedOneOf(SAMPLE_COLOURS)],
    [70, 'material', () => material],
    [60, 'weightGrams', () => draws.integer(5, 400) * (draws.isIn(20) ? 100 : 5)],
    [50, 'recyclable', () => draws.isIn(65)],
    [40, 'madeIn', () => draws.skewedOneOf(SAMPLE_PLACES)],
    [30, 'warrantyYears', () => draws.oneOf([1, 2, 3, 5, 10])],
    [30, 'rating', () => draws.integer(10, 50) / 10],
    [20, 'lot', () => `L${draws.integer(1, 10_000)}`],
    [15, 'dimensions.widthMm', () => draws.integer(10, 2_400)],
    [8, 'energy:class', () => draws.oneOf(['A', 'B', 'C', 'D', 'E', 'F', 'G'])],
    [1, '$note', () => 'ends with the stock'],
  ];
  const present = candidates.filter(([percent]) => draws.isIn(percent));
  return Object.fromEntries(present.map(([, key, value]) => [key, value()]));
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
