import { type Attributes, attributeFaults } from './attributes.js';
import { type Fault, fieldFault } from './errors.js';
import type { FieldSet } from './fields.js';
import { MANY_LINES, NAME, type TextRule, textFieldFaults } from './text.js';

export interface Price {
  /** In the currency's minor unit (cents, pence, yen). */
  readonly amount: number;
  /** Three capital letters, as in ISO 4217. */
  readonly currency: string;
}

export interface Product {
  readonly name: string;
  readonly description?: string;
  readonly sku?: string;
  readonly price?: Price;
  readonly attributes?: Attributes;
}

export const PRODUCT_FIELDS = {
  name: { type: 'text', required: true },
  sku: { type: 'text', unique: true },
  'price.amount': { type: 'integer' },
  'price.currency': { type: 'text' },
  attributes: { type: 'attributes' },
} satisfies FieldSet;

export const DESCRIPTION: TextRule = { min: 0, max: 5_000, allowed: MANY_LINES };
export const SKU: TextRule = { min: 1, max: 64, allowed: /^[A-Za-z0-9._-]*$/ };
export const CURRENCY = /^[A-Z]{3}$/;
export const AMOUNT = { min: 0, max: Number.MAX_SAFE_INTEGER } as const;

/** What holds of a product whoever made it; an empty answer means that all does. */
export function productFaults(product: Product): Fault[] {
  return [
    ...textFieldFaults(['name'], product.name, NAME),
    ...textFieldFaults(['description'], product.description, DESCRIPTION),
    ...textFieldFaults(['sku'], product.sku, SKU),
    ...priceFaults(product.price),
    ...attributeFaults(product.attributes ?? {}).map(({ code, path }) =>
      fieldFault(code, ['attributes', ...path]),
    ),
  ];
}

/** The product as it is kept: an empty `attributes` is no value, and minus zero is zero. */
export function normalProduct(product: Product): Product {
  const { attributes, price, ...rest } = product;
  return {
    ...rest,
    ...(price && { price: { amount: price.amount + 0, currency: price.currency } }),
    ...(attributes && Object.keys(attributes).length > 0 && { attributes: normalAttributes(attributes) }),
  };
}

function normalAttributes(attributes: Attributes): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [key, typeof value === 'number' ? value + 0 : value]),
  );
}

function priceFaults(price: Price | undefined): Fault[] {
  if (!price) return [];
  const { amount, currency } = price;
  const faults: Fault[] = [];
  if (!Number.isSafeInteger(amount) || amount < AMOUNT.min)
    faults.push(fieldFault('out_of_range', ['price', 'amount']));
  if (!CURRENCY.test(currency)) faults.push(fieldFault('invalid_format', ['price', 'currency']));
  return faults;
}
