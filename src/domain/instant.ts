import type { Instant } from './record.js';

/** RFC 3339 section 5.6. `t` and `z` may be in either case, and the offset may lack its colon, as Python writes it. */
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)t([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.(\d+))?(?:z|([+-])([01]\d|2[0-3]):?([0-5]\d))$/i;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * The moment that an RFC 3339 date-time names. A leap second counts as the second after it. All moments between two
 * milliseconds count as the one halfway, because records keep milliseconds.
 * @returns undefined if the text is no date-time, or names a day that does not exist
 */
export function parseInstant(text: string): Instant | undefined {
  const [, date, hours, minutes, seconds, fraction = '', sign, offsetHours, offsetMinutes] = DATE_TIME.exec(text) ?? [];
  const day = dayOf(date ?? '');
  if (day === undefined) return undefined;
  const offset = duration(offsetHours, offsetMinutes, '0') * (sign === '-' ? -1 : 1);
  return day + duration(hours, minutes, seconds) + milliseconds(fraction) - offset;
}

/** Returns the instant as responses show it (RFC 3339, UTC, milliseconds). */
export function instantText(at: Instant | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}

/** `Date.parse` alone takes the 31st of February for a day of March. */
function dayOf(date: string): Instant | undefined {
  const day = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(day) && new Date(day).toISOString().startsWith(date) ? day : undefined;
}

function duration(hours = '0', minutes = '0', seconds = '0'): number {
  return Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds) * SECOND;
}

function milliseconds(fraction: string): number {
  const whole = Number(fraction.slice(0, 3).padEnd(3, '0'));
  return /[1-9]/.test(fraction.slice(3)) ? whole + 0.5 : whole;
}
