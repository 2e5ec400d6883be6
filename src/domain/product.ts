import type { FieldsOf, FieldTable } from './fields.js';
import { MANY_LINES, NAME, ONE_LINE, ONE_LINE_CHARACTERS, TAG_RULE, URL_RULE } from './text.js';

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
        faceted: true,
      },
    },
  },
  attributes: {
    description: 'Properties of your own choice',
    kind: 'attributes',
    example: { colour: 'green', watts: 7.5, dimmable: true },
    indexed: true,
    faceted: true,
    searched: true,
  },
  status: {
    description: 'Why the public does not see the product; without it the product is live',
    kind: 'choice',
    values: ['draft', 'archived'],
    noValue: 'live',
    indexed: true,
    faceted: true,
  },
  tags: {
    description: 'Categories and marks of your own; a slash makes paths; upper and lower case differ',
    kind: 'list',
    of: { description: 'One tag', kind: 'text', ...TAG_RULE, example: 'lighting/lamps' },
    min: 0,
    max: 50,
    distinct: [],
    separator: '|',
    indexed: true,
    faceted: true,
    searched: true,
  },
  images: {
    description: 'Pictures, the main one first; the service never fetches them',
    kind: 'list',
    of: {
      description: 'One picture',
      kind: 'object',
      fields: {
        url: {
          description: 'Its address',
          kind: 'text',
          ...URL_RULE,
          example: 'https://example.com/images/lamp-1.jpg',
          required: true,
        },
        alt: {
          description: 'What it shows, for those who do not see it',
          kind: 'text',
          min: 0,
          max: 500,
          allowed: ONE_LINE,
          characters: ONE_LINE_CHARACTERS,
          example: 'The lamp on a desk',
        },
      },
    },
    min: 0,
    max: 20,
    distinct: ['url'],
    separator: '|',
    indexed: 'presence',
  },
  url: {
    description: 'The page of the product',
    kind: 'text',
    ...URL_RULE,
    example: 'https://example.com/lamps/1',
    indexed: 'presence',
  },
  brand: {
    description: 'Who makes the product',
    kind: 'text',
    ...NAME,
    example: 'Nordlicht',
    indexed: true,
    faceted: true,
    searched: true,
  },
  gtin: {
    description: 'The Global Trade Item Number, with its check digit (GS1 General Specifications, section 7.9)',
    kind: 'code',
    pattern: /^(?:[0-9]{8}|[0-9]{12,14})$/,
    isValid: hasCheckDigit,
    mistake: gtinMistake,
    form: 'a string of 8, 12, 13 or 14 digits, the last of which is the check digit',
    example: '4006381333931',
    indexed: true,
    paddedTo: 14,
    searched: true,
  },
  group: {
    description: 'What variants of one product share',
    kind: 'text',
    min: 1,
    max: 64,
    allowed: /^[A-Za-z0-9._-]*$/,
    characters: 'of A-Z a-z 0-9 . _ -',
    example: 'LAMP',
    indexed: true,
    faceted: true,
    searched: true,
    groupsVariants: true,
  },
  stock: {
    description: 'How many there are',
    kind: 'integer',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    unit: 'pieces',
    example: 12,
    indexed: true,
  },
} as const satisfies FieldTable;

export interface Product extends FieldsOf<typeof PRODUCT> {}

export type Price = NonNullable<Product['price']>;

/** The digits before the last one weigh 3 and 1 in turn, from the right; with the last one the sum ends in 0. */
export function hasCheckDigit(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, at) => total + Number(digit) * (at % 2 === 0 ? 1 : 3), 0);
  return sum % 10 === 0;
}

/** What a spreadsheet or a typing error did to a GTIN. */
function gtinMistake(text: string): string | undefined {
  if (/^[0-9](?:[.,][0-9]+)?E\+?[0-9]+$/i.test(text))
    return 'A spreadsheet has rounded it: format the column as text before the numbers are entered';
  if (!/^[0-9]{1,14}$/.test(text)) return undefined;
  const isComplete = [8, 12, 13, 14].includes(text.length);
  if (!isComplete && hasCheckDigit(text))
    return `A spreadsheet has removed its leading zeros: ${text.padStart(text.length < 8 ? 8 : 12, '0')} would be valid. Format the column as text`;
  if (!isComplete) return undefined;
  const digits = text.slice(0, -1);
  const right = [...'0123456789'].find((digit) => hasCheckDigit(digits + digit));
  return `After ${digits} the check digit would be ${right}`;
}

/** Whether the public may see a product. */
export const LIVE = { field: 'status', operator: 'exists', value: false } as const;
