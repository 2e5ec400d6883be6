import { parseInstant } from '../../../../domain/instant.js';
import type { Instant } from '../../../../domain/record.js';

/** For so long whoever uses a deprecated version may count on it. */
const NOTICE_MONTHS = 12;

/** Since when a version is deprecated, and from when on it may be gone. */
export class Deprecation {
  private readonly since: Instant;
  private readonly sunset: Instant;

  /**
   * Both as in RFC 3339; what is finer than a second is not told.
   * @throws RangeError where the second is less than 12 months after the first
   */
  constructor(times: { readonly since: string; readonly sunset: string }) {
    this.since = wholeSecond(times.since);
    this.sunset = wholeSecond(times.sunset);
    if (this.sunset < endOfNotice(this.since))
      throw new RangeError(`A version goes ${NOTICE_MONTHS} months after its deprecation at the earliest.`);
  }

  /** RFC 9745 section 2.1 and RFC 8594 section 3. */
  get headers(): Readonly<Record<'Deprecation' | 'Sunset', string>> {
    return {
      Deprecation: `@${this.since / 1_000}`,
      Sunset: new Date(this.sunset).toUTCString(),
    };
  }
}

function endOfNotice(since: Instant): Instant {
  const end = new Date(since);
  return end.setUTCMonth(end.getUTCMonth() + NOTICE_MONTHS);
}

function wholeSecond(text: string): Instant {
  const instant = parseInstant(text);
  if (instant === undefined) throw new RangeError(`${text} is no RFC 3339 time.`);
  return Math.floor(instant / 1_000) * 1_000;
}
