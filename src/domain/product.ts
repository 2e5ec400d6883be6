import { type Attributes, attributeFaults } from './attributes.js';
import { type Fault, jsonPointer } from './errors.js';
import { MANY_LINES, NAME, type TextRule, textFaults } from './text.js';

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

export const DESCRIPTION: TextRule = { min: 0, max: 5_000, allowed: MANY_LINES, blank: true };
export const SKU: TextRule = { min: 1, max: 64, allowed: /^[A-Za-z0-9._-]*$/, blank: true };
export const CURRENCY = /^[A-Z]{3}$/;
export const AMOUNT = { min: 0, max: Number.MAX_SAFE_INTEGER } as const;

/** What holds of a product whoever made it; an empty answer means that all does. */
export function productFaults(product: Product): Fault[] {
  return [
    ...faultsOfText(['name'], product.name, NAME),
    ...faultsOfText(['description'], product.description, DESCRIPTION),
    ...faultsOfText(['sku'], product.sku, SKU),
    ...priceFaults(product.price),
    ...attributeFaults(product.attributes ?? {}).map(({ code, path }) =>
      fault(code, ['attributes', ...path]),
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
    faults.push(fault('out_of_range', ['price', 'amount']));
  if (!CURRENCY.test(currency)) faults.push(fault('invalid_format', ['price', 'currency']));
  return faults;
}

function faultsOfText(path: string[], text: string | undefined, rule: TextRule): Fault[] {
  return text === undefined ? [] : textFaults(text, rule).map((code) => fault(code, path));
}

function fault(code: Fault['code'], path: readonly string[]): Fault {
  return {
    code,
    message: `${path.join('.')} breaks a rule of its field.`,
    in: 'body',
    pointer: jsonPointer(path),
  };
}
