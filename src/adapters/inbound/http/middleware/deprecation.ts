import { parseInstant } from '../../../../domain/instant.js';
import type { Instant } from '../../../../domain/record.js';
import { andThen } from '../../../../shared/maybe-promise.js';
import { pathIn } from '../core/api-version.js';
import type { Middleware } from '../core/context.js';

/** The minimum time from the deprecation of a version to its removal. */
const NOTICE_MONTHS = 12;

/** When a version was deprecated, and the earliest time at which it is removed. */
export class Deprecation {
  private readonly since: Instant;
  private readonly sunset: Instant;

  /**
   * @param times in the format of RFC 3339. Fractions of a second are dropped.
   * @throws RangeError if the sunset is less than 12 months after the deprecation
   */
  constructor(times: { readonly since: string; readonly sunset: string }) {
    this.since = wholeSecond(times.since);
    this.sunset = wholeSecond(times.sunset);
    if (this.sunset < endOfNotice(this.since))
      throw new RangeError(
        `A version may be removed ${NOTICE_MONTHS} months after its deprecation at the earliest.`,
      );
  }

  /** The headers of RFC 9745 section 2.1 and RFC 8594 section 3. */
  get headers(): Readonly<Record<'Deprecation' | 'Sunset', string>> {
    return {
      Deprecation: `@${this.since / 1_000}`,
      Sunset: new Date(this.sunset).toUTCString(),
    };
  }
}

/**
 * Adds the deprecation headers to every response of a deprecated version, including errors (RFC 9745, RFC 8594). Also
 * adds a link to the same path in the next version (RFC 5829 section 3.4).
 */
export const deprecationHeaders: Middleware = (ctx, next) =>
  andThen(next(), () => {
    const deprecation = ctx.state.version?.deprecation;
    if (!deprecation) return;
    const links = ctx.response.get('Link');
    const next = ctx.state.addressOf(pathIn(deprecation.successor, ctx.path));
    const successor = `<${next}>; rel="successor-version"`;
    ctx.set({ ...deprecation.headers, Link: links ? `${links}, ${successor}` : successor });
  });

function endOfNotice(since: Instant): Instant {
  const end = new Date(since);
  return end.setUTCMonth(end.getUTCMonth() + NOTICE_MONTHS);
}

function wholeSecond(text: string): Instant {
  const instant = parseInstant(text);
  if (instant === undefined) throw new RangeError(`${text} is not an RFC 3339 time.`);
  return Math.floor(instant / 1_000) * 1_000;
}
