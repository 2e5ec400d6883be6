import type { RemoteSpan } from '../../../../application/ports/request-tracer.js';

/** Version, trace id, span id, flags, and in versions after 00 perhaps more (W3C Trace Context, section 3.2). */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/**
 * Returns the span that `traceparent` names. Undefined if the header is absent or malformed, which repeated headers
 * are. `tracestate` is ignored: the service calls no other service that could read it.
 */
export function parseTraceparent(header: string | readonly string[] | undefined): RemoteSpan | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  if (version === '00' && rest !== undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags ?? '', 16) & SAMPLED) === SAMPLED };
}
