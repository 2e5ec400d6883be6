/** An amount in minor units as a person reads it, such as `€49.90`. The digits are exact however large it is. */
export function priceText(amount: number, currency: string): string {
  try {
    const format = new Intl.NumberFormat(undefined, { style: 'currency', currency });
    const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
    return format.format(decimal(amount, digits) as unknown as number);
  } catch {
    return `${amount} ${currency}`;
  }
}

/** Digits as text, because a division would round large amounts. `Intl.NumberFormat` reads them exactly. */
function decimal(amount: number, digits: number): string {
  if (digits === 0) return String(amount);
  const text = String(amount).padStart(digits + 1, '0');
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`;
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
  if (ABBREVIATIONS.includes(name)) return name.toUpperCase();
  const words = name
    .replaceAll('.', ' ')
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase();
  const proper = words.replace(/\b(id|sku)\b/g, (word) => word.toUpperCase());
  return proper.charAt(0).toUpperCase() + proper.slice(1);
}

const ABBREVIATIONS = ['id', 'sku'];
