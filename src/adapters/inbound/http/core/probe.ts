import type { IncomingMessage } from 'node:http';

/** Whether the path of a request begins with `/health/`. */
export function isProbe({ url = '' }: IncomingMessage): boolean {
  return PROBE.test(url);
}

/** The target of a request may be in absolute form (RFC 9112 section 3.2.2). */
const PROBE = /^(?:[Hh][Tt][Tt][Pp][Ss]?:\/\/[^/?#]*)?\/health\//;
