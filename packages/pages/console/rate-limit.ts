import type { RateLimit } from './types.js';

/** @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/ */
export function rateLimitOf(headers: Headers): RateLimit | undefined {
  const [, remaining, reset] = /;\s*r=(\d+)(?:.*;\s*t=(\d+))?/.exec(headers.get('RateLimit') ?? '') ?? [];
  if (remaining === undefined) return undefined;
  const [, limit] = /;\s*q=(\d+)/.exec(headers.get('RateLimit-Policy') ?? '') ?? [];
  return {
    remaining: Number(remaining),
    resetSeconds: Number(reset ?? 0),
    limit: limit === undefined ? undefined : Number(limit),
  };
}
