import { amountOf, currencyDigits, decimalOf } from '#src/domain/money.js';
import { JSON_NUMBER, readInteger, readNumber } from '#src/shared/json.js';
import { stepsOf } from './edit/json.js';
import { pathOf, wordsOf } from './field-words.js';

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

/** Why a text is no number that can be sent. */
export type NumberProblem =
  | { readonly code: 'not_a_number' | 'not_an_integer' | 'too_precise' }
  /** The text could mean both of these numbers. */
  | { readonly code: 'ambiguous'; readonly readings: readonly string[] }
  | { readonly code: 'not_a_price'; readonly currency: string };

/** Digits with at most one decimal mark: `1250`, `-7.5`, `7,5`. */
const PLAIN = /^(-?)(0|[1-9]\d*)(?:[.,](\d+))?$/;
/** Digits in groups of three, perhaps with a decimal mark that does not separate the groups: `1 000`, `1.000.000,5`. */
const GROUPED = /^(-?)([1-9]\d{0,2}([.,'’ \u00a0\u202f])\d{3}(?:\3\d{3})*)(?:(?!\3)[.,](\d+))?$/;

/**
 * The numbers that a text could mean, whatever the locale: `1250,5` and `1.250,5` → `1250.5`; `1.000` → `1000` and
 * `1.000`; no number for any other text.
 * @returns decimals as JSON writes them, without exponents
 */
export function decimalsIn(text: string): readonly string[] {
  const typed = text.trim().replace('−', '-');
  const [, sign, groups, , rest] = GROUPED.exec(typed) ?? [];
  const [, minus, whole, fraction] = PLAIN.exec(typed) ?? [];
  const decimal = (...parts: readonly (string | undefined)[]) => parts.filter(Boolean).join('.');
  return [
    ...(groups === undefined ? [] : [`${sign}${decimal(groups.replace(/\D/g, ''), rest)}`]),
    ...(whole === undefined ? [] : [`${minus}${decimal(whole, fraction)}`]),
  ];
}

/** A number as JSON writes it (RFC 8259 section 6), with an exponent. */
const WITH_EXPONENT = /^-?\d+(?:\.\d+)?e/i;

/**
 * The number that a person typed, if it is exactly that: JavaScript rounds longer ones silently. An integer has no
 * fraction and no exponent.
 */
export function typedNumber(text: string, isInteger = false): number | NumberProblem {
  const typed = text.trim();
  const readings = WITH_EXPONENT.test(typed) ? [typed] : decimalsIn(typed);
  if (readings.length > 1) return { code: 'ambiguous', readings };
  const [decimal = ''] = readings;
  const number = isInteger ? readInteger(decimal) : readNumber(decimal);
  if (number === undefined) return { code: isInteger ? 'not_an_integer' : 'not_a_number' };
  return significant(decimal) === significant(String(number)) ? number : { code: 'too_precise' };
}

/** The digits of a number without zeros at either end, and the power of ten of the last: equal for equal numbers. */
function significant(text: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = JSON_NUMBER.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  return `${kept}e${kept && Number(exponent) - fraction.length + digits.length - kept.length}`;
}

/**
 * The amount in the smallest unit of a text such as `49.90`, `49,90` or `1 049,90`. Zeros may follow the digits of the
 * currency. `1.005` is a number with three digits behind the mark only for a currency that has three, with the mark of
 * the locale.
 */
export function typedAmount(text: string, currency: string): number | NumberProblem {
  const all = decimalsIn(text);
  const hasThreeDigits = currencyDigits(currency) === 3 && text.includes(decimalMark());
  const readings = hasThreeDigits ? all.slice(-1) : all;
  const decimal = readings.at(-1) ?? '';
  const amount = amountOf(decimal, currency);
  if (amount === undefined)
    return amountOf(decimal.replace(/^\d+/, '0'), currency) === undefined
      ? { code: 'not_a_price', currency }
      : { code: 'too_precise' };
  return readings.length > 1 ? { code: 'ambiguous', readings } : amount;
}

/** A number as a person types it into a field: with the mark of the locale, and so that it has one meaning: `1.2340`. */
export function typedText(value: number): string {
  const text = String(value);
  if (text.includes('e')) return text;
  const marked = text.replace('.', decimalMark());
  return decimalsIn(marked).length > 1 ? `${marked}0` : marked;
}

export function timeText(instant: string): string {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return instant;
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }).format(date);
}

/** A number as a person reads it. So many digits tell any two numbers apart. */
export function numberText(value: number): string {
  return new Intl.NumberFormat(undefined, { maximumSignificantDigits: 17 }).format(value);
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

/** The label of a field: of one that has no words of its own, those of its name. */
export function labelOf(path: string): string {
  const words = path
    .replaceAll('.', ' ')
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase();
  return wordsOf(path)?.label ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** The field at a JSON Pointer, as a person reads it: `Items 2 › Product`. */
export function placeOf(pointer: string): string {
  const { labels } = stepsOf(pointer).reduce(
    ({ path, labels }, step) => {
      const inner = pathOf(path, step);
      const label = path === '' ? labelOf(step) : (wordsOf(inner)?.label ?? step);
      if (inner === path) return { path, labels: [...labels.slice(0, -1), `${labels.at(-1)} ${Number(step) + 1}`] };
      return { path: inner, labels: labels.includes(label) ? labels : [...labels, label] };
    },
    { path: '', labels: [] as readonly string[] },
  );
  return labels.join(' › ');
}
