import type { Route } from '../route.js';
import { withoutVersion } from './asked-version.js';
import { FIRST, type ServedVersion } from './served-version.js';

/**
 * Of an endpoint among all that are served: which version it is, beside which others of its address.
 * @throws Error where the address has this version twice, or it is deprecated and there is none to go to
 */
export function servedVersion(endpoint: Route, served: readonly Route[]): ServedVersion {
  const { template, deprecation } = endpoint;
  const number = numberOf(endpoint);
  const all = served
    .filter((other) => addressOf(other) === addressOf(endpoint))
    .map(numberOf)
    .sort((a, b) => a - b);
  if (new Set(all).size < all.length) throw new Error(`${template} is served twice.`);
  if (!deprecation) return { number, all };
  const successor = all.find((other) => other > number);
  if (successor === undefined) throw new Error(`${template} is deprecated, and nothing takes its place.`);
  return { number, all, end: { headers: deprecation.headers, successor } };
}

function numberOf({ version }: Route): number {
  return version ?? FIRST.number;
}

/** Alike in every version. */
function addressOf({ template }: Route): string {
  return withoutVersion(template);
}
