/**
 * Amounts of money between the smallest unit of a currency, an integer, and its major unit, a decimal text: 1999 and
 * `19.99` EUR. The arithmetic moves the decimal point in a text, so that no binary fraction rounds an amount.
 */

/** The currencies without two digits behind the point: ISO 4217, list one, as of 2026-01-01. */
const DIGITS: Readonly<Record<string, number>> = {
  ...digitsOf(0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'),
  ...digitsOf(3, 'BHD IQD JOD KWD LYD OMR TND'),
  ...digitsOf(4, 'CLF UYW'),
};

/** The digits of a currency that ISO 4217 lacks, and of most that it has. */
const USUAL_DIGITS = 2;

function digitsOf(digits: number, currencies: string): Record<string, number> {
  return Object.fromEntries(currencies.split(' ').map((currency) => [currency, digits]));
}

/** How many digits of a currency stand behind the point: 0 to 4. */
export function currencyDigits(currency: string): number {
  return Object.hasOwn(DIGITS, currency) ? (DIGITS[currency] ?? USUAL_DIGITS) : USUAL_DIGITS;
}

/**
 * The amount in the major unit, with a point and all digits of the currency: 1990 EUR → `19.90`, 1999 JPY → `1999`.
 * @param amount a safe integer from 0, in the smallest unit
 */
export function decimalOf(amount: number, currency: string): string {
  const digits = currencyDigits(currency);
  if (digits === 0) return `${amount}`;
  const text = `${amount}`.padStart(digits + 1, '0');
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/**
 * The amount in the smallest unit of a decimal text in the major unit: `19.9` EUR → 1990.
 * Zeros may follow the digits of the currency, as databases and shops write them: `34.0000`.
 * @returns undefined if the text is no digits with at most one point between them, has other digits behind those of the
 *   currency, or is no safe integer in the smallest unit
 */
export function amountOf(decimal: string, currency: string): number | undefined {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(decimal) ?? [];
  const digits = currencyDigits(currency);
  if (whole === undefined || /[1-9]/.test(fraction.slice(digits))) return undefined;
  const amount = Number(whole + fraction.slice(0, digits).padEnd(digits, '0'));
  return Number.isSafeInteger(amount) ? amount : undefined;
}
