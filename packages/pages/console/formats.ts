import { amountOf, currencyDigits, decimalOf } from '#src/domain/money.js';

export interface Price {
  /** In the smallest unit of the currency. */
  readonly amount: number;
  readonly currency: string;
}

export function isPrice(value: unknown): value is Price {
  const { amount, currency } = Object(value) as Partial<Price>;
  return (
    Number.isSafeInteger(amount) &&
    Number(amount) >= 0 &&
    typeof currency === 'string' &&
    Object.keys(Object(value)).length === 2
  );
}

/** A price as a person reads it, such as `€49.90`. The digits are exact however large it is. */
export function priceText({ amount, currency }: Price): string {
  // Browsers take the digits of CLDR, which has none for HUF and IQD.
  const digits = currencyDigits(currency);
  const decimal = decimalOf(amount, currency);
  try {
    const format = new Intl.NumberFormat(undefined, {
      style: 'currency',
      currency,
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
    // A text, because a division would round large amounts. `Intl.NumberFormat` reads it exactly.
    return format.format(decimal as unknown as number);
  } catch {
    return `${decimal} ${currency}`;
  }
}

/** What people write between the whole part and the fraction of a number, in the locale of the browser. */
export function decimalMark(): '.' | ',' {
  const parts = new Intl.NumberFormat().formatToParts(0.5);
  return parts.some(({ type, value }) => type === 'decimal' && value === ',') ? ',' : '.';
}

/** An amount in the smallest unit as a person types it into a field, such as `49.90`. */
export function amountText(amount: number, currency: string): string {
  return decimalOf(amount, currency).replace('.', decimalMark());
}

/**
 * The amount in the smallest unit of a text such as `49.90`, or `49,90` if the locale writes a comma. Separators of
 * thousands are not accepted, because one of them could be meant as the decimal mark.
 * @returns undefined for any other text, and for more digits behind the mark than the currency has, even if they are
 *   zeros: `1.000` could mean a thousand
 */
export function typedAmount(text: string, currency: string): number | undefined {
  const typed = text.trim();
  const decimal = decimalMark() === ',' ? typed.replace(',', '.') : typed;
  const [, fraction = ''] = decimal.split('.');
  return fraction.length > currencyDigits(currency) ? undefined : amountOf(decimal, currency);
}

export function timeText(instant: string): string {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return instant;
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }).format(date);
}

export function numberText(value: number): string {
  return new Intl.NumberFormat().format(value);
}

/** The value of a `datetime-local` field, in the time zone of the browser, as the API takes it. */
export function instantOf(local: string): string {
  return new Date(local).toISOString();
}

/** The value of a `datetime-local` field for an instant; empty if it is none. */
export function localOf(instant: string): string {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** The words of a field's name: `createdAt` → `Created at`, `price.amount` → `Price amount`, `sku` → `SKU`. */
export function labelOf(name: string): string {
  const words = name
    .replaceAll('.', ' ')
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase();
  const proper = words.replace(/\b(id|sku|url|gtin)\b/g, (word) => word.toUpperCase());
  return proper.charAt(0).toUpperCase() + proper.slice(1);
}
