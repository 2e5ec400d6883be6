import type { IncomingMessage } from 'node:http';

const UPGRADE_OPTION = /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i;

/**
 * Whether a client asks to go on in another protocol (RFC 9110 section 7.8). The service ignores that, but nothing behind
 * such a request may be taken for a request: Node drops what came with it, and parses on from the middle of what follows.
 */
export function asksForUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined || UPGRADE_OPTION.test(headers.connection ?? '');
}
