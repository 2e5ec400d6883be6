import type { Attributes, AttributeValue } from '../../../../domain/fields.js';
import { hasCheckDigit, type Price, type Product } from '../../../../domain/product.js';
import { RandomValues } from './random-values.js';
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
  const random = new RandomValues(`sample product ${seed}/${index}`);
  const kind = random.oneOf(SAMPLE_KINDS);
  const [brand, noun, material] = [
    random.skewedOneOf(SAMPLE_BRANDS),
    random.oneOf(kind.nouns),
    random.skewedOneOf(kind.materials),
  ];
  const sku = `${kind.code}-${base36(seed)}-${base36(index).padStart(SKU_DIGITS, '0')}`;
  return {
    name: nameOf(random, brand, material, noun),
    ...(random.isIn(85) && { description: descriptionOf(random, brand, material, noun) }),
    sku,
    ...(random.isIn(97) && { price: priceOf(random, kind) }),
    ...(random.isIn(95) && { attributes: attributesOf(random, material) }),
    ...(random.isIn(3) && { status: random.oneOf(['draft', 'draft', 'archived']) }),
    ...(random.isIn(90) && { tags: tagsOf(random, kind, noun) }),
    ...(random.isIn(80) && { images: imagesOf(random, sku, noun) }),
    ...(random.isIn(50) && { url: `https://shop.example.com/products/${sku.toLowerCase()}` }),
    ...(random.isIn(90) && { brand }),
    ...(random.isIn(70) && { gtin: gtinOf(index) }),
    ...(random.isIn(15) && {
      group: `${kind.code}-${base36(seed)}-${base36(Math.ceil(index / GROUP_RANGE))}`,
    }),
    ...(random.isIn(85) && { stock: random.isIn(10) ? 0 : Math.floor(random.skewed() * 500) }),
  };
}

/** Consecutive products that may be variants of one another. */
const GROUP_RANGE = 500;

/** A category as a path, and marks. The first marks are the most common. */
function tagsOf(random: RandomValues, { code }: SampleKind, noun: string): readonly string[] {
  const marks = ['new', 'sale', 'gift', 'outlet', 'made to order'] as const;
  const category = `${code.toLowerCase()}/${noun.toLowerCase().replaceAll(' ', '-')}`;
  return [category, ...marks.filter((_, at) => random.isIn(16 >> at))];
}

function imagesOf(random: RandomValues, sku: string, noun: string): NonNullable<Product['images']> {
  return Array.from({ length: random.integer(1, 3) }, (_, at) => ({
    url: `https://images.example.com/${sku.toLowerCase()}/${at + 1}.jpg`,
    ...(at === 0 && { alt: noun }),
  }));
}

/** Of the prefix for use inside a company, which names no article of others (GS1 General Specifications, 2.1.11). */
function gtinOf(index: number): string {
  const digits = `2${String(index).padStart(11, '0')}`;
  return digits + [...'0123456789'].find((last) => hasCheckDigit(digits + last));
}

function base36(number: number): string {
  return number.toString(36).toUpperCase();
}

function nameOf(random: RandomValues, brand: string, material: string, noun: string): string {
  const parts = [
    random.isIn(0.1) && '🌿',
    random.isIn(90) && brand,
    random.isIn(60) && random.skewedOneOf(SAMPLE_LINES),
    random.isIn(45) && capitalised(material),
    noun,
    random.isIn(35) && variantOf(random),
  ];
  return parts.filter(Boolean).join(' ');
}

function variantOf(random: RandomValues): string {
  return random.oneOf([
    () => `${random.integer(1, 60) * 5} cm`,
    () => `No. ${random.integer(1, 99)}`,
    () => `${random.oneOf(['A', 'K', 'M', 'S', 'X', 'Z'])}-${random.integer(1, 90) * 10}`,
    () => `(pack of ${random.integer(2, 12)})`,
    () => `½ × ${random.integer(2, 9)}`,
  ])();
}

function descriptionOf(random: RandomValues, brand: string, material: string, noun: string): string {
  const location = random.oneOf(SAMPLE_PLACES);
  const sentences = [
    `${capitalised(noun.toLowerCase())} by ${brand}, ${material}, in ${random.skewedOneOf(SAMPLE_COLOURS)}.`,
    random.isIn(60) && `Designed in ${location} and made to be used every day.`,
    random.isIn(40) &&
      `Measures ${random.integer(4, 240)} × ${random.integer(4, 180)} × ${random.integer(1, 90)} cm.`,
    random.isIn(30) && 'Wipe clean with a damp cloth; keep away from strong sunlight.',
    random.isIn(25) && `Arrives within ${random.integer(2, 21)} days in a box of recycled cardboard.`,
    random.isIn(10) && `In the box:\n- ${noun}\n- care booklet\n- ${random.integer(1, 8)} spare parts`,
    random.isIn(5) && `« ${noun} » – wie gemacht für ${location}.`,
  ];
  return sentences.filter(Boolean).join(' ');
}

/** Most prices are near the lowest of the kind, and most are slightly below a round number. */
function priceOf(random: RandomValues, { price: [low, high] }: SampleKind): Price {
  const [currency, rate] = random.skewedOneOf(CURRENCIES);
  const exact = Math.floor((low + (high - low) * random.skewed()) * rate);
  const isCharming = exact > 500 && random.isIn(70);
  return { amount: isCharming ? exact - (exact % 100) - 1 : exact, currency };
}

function attributesOf(random: RandomValues, material: string): Attributes {
  const candidates: readonly [percent: number, key: string, value: () => AttributeValue][] = [
    [85, 'colour', () => random.skewedOneOf(SAMPLE_COLOURS)],
    [70, 'material', () => material],
    [60, 'weightGrams', () => random.integer(5, 400) * (random.isIn(20) ? 100 : 5)],
    [50, 'recyclable', () => random.isIn(65)],
    [40, 'madeIn', () => random.skewedOneOf(SAMPLE_PLACES)],
    [30, 'warrantyYears', () => random.oneOf([1, 2, 3, 5, 10])],
    [30, 'rating', () => random.integer(10, 50) / 10],
    [20, 'lot', () => `L${random.integer(1, 10_000)}`],
    [15, 'dimensions.widthMm', () => random.integer(10, 2_400)],
    [8, 'energy:class', () => random.oneOf(['A', 'B', 'C', 'D', 'E', 'F', 'G'])],
    [1, '$note', () => 'ends with the stock'],
  ];
  const present = candidates.filter(([percent]) => random.isIn(percent));
  return Object.fromEntries(present.map(([, key, value]) => [key, value()]));
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
