import type { Attributes } from './attributes.js';
import type { FieldsOf, FieldTable } from './fields.js';
import { MANY_LINES, NAME } from './text.js';

export const PRODUCT = {
  name: {
    description: 'What buyers call the product',
    kind: 'text',
    ...NAME,
    example: 'Desk lamp',
    required: true,
    indexed: true,
    searched: true,
  },
  description: {
    description: 'The text for buyers',
    kind: 'text',
    min: 0,
    max: 5_000,
    allowed: MANY_LINES,
    characters: 'characters, no lone surrogate, no control character but tab, line feed and carriage return',
    example: 'Brass, with a shade of linen.',
    searched: true,
  },
  sku: {
    description: 'The stock keeping unit, which no two products share; upper and lower case differ',
    kind: 'text',
    min: 1,
    max: 64,
    allowed: /^[A-Za-z0-9._-]*$/,
    characters: 'of A-Z a-z 0-9 . _ -',
    example: 'LAMP-1',
    indexed: true,
    unique: true,
    searched: true,
  },
  price: {
    description: 'What one piece costs',
    kind: 'object',
    fields: {
      amount: {
        description: 'How much',
        kind: 'integer',
        min: 0,
        max: Number.MAX_SAFE_INTEGER,
        unit: 'the smallest unit of the currency (1999 is 19.99 EUR)',
        currency: 'currency',
        example: 4990,
        required: true,
        indexed: true,
      },
      currency: {
        description: 'The currency, as in ISO 4217',
        kind: 'code',
        pattern: /^[A-Z]{3}$/,
        form: 'three capital letters, such as EUR',
        example: 'EUR',
        required: true,
        indexed: true,
      },
    },
  },
  attributes: {
    description: 'Properties of your own choice',
    kind: 'attributes',
    example: { colour: 'green', watts: 7.5, dimmable: true },
    indexed: true,
    searched: true,
  },
} as const satisfies FieldTable;

export interface Product extends FieldsOf<typeof PRODUCT> {}

export type Price = NonNullable<Product['price']>;

/** The product as it is stored: empty `attributes` are no value, and minus zero in one is zero. */
export function normalizeProduct(product: Product): Product {
  if (isNormal(product)) return product;
  const { attributes, ...rest } = product;
  return {
    ...rest,
    ...(attributes && Object.keys(attributes).length > 0 && { attributes: normalizeAttributes(attributes) }),
  };
}

function isNormal({ attributes }: Product): boolean {
  if (!attributes) return true;
  const values = Object.values(attributes);
  return values.length > 0 && !values.some(isMinusZero);
}

function isMinusZero(value: unknown): boolean {
  return Object.is(value, -0);
}

function normalizeAttributes(attributes: Attributes): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [key, typeof value === 'number' ? value + 0 : value]),
  );
}
