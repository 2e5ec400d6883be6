import type { Settings } from './settings.js';

/** The names that the settings add to the self-signed certificate. */
export function certificateNames({
  TLS_NAMES,
  PUBLIC_URL,
}: Pick<Settings, 'TLS_NAMES' | 'PUBLIC_URL'>): string[] {
  // Clients compare the name without the dot of an absolute one, and an IPv6 address without its brackets.
  const hosts = PUBLIC_URL ? [new URL(PUBLIC_URL).hostname.replace(/^\[|\]$|\.$/g, '')] : [];
  return [...TLS_NAMES.split(',').filter(Boolean), ...hosts];
}
