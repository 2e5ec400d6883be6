import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { LocalCa } from '#src/adapters/outbound/certificates/local-ca.js';
import { SystemClock } from '#src/adapters/outbound/system/clock.js';

/** Returns a certificate for localhost and its key as PEM, from a new CA in this folder, and the path of its CA. */
export async function serverPair(folder: string): Promise<{ cert: string; key: string; authority: string }> {
  mkdirSync(folder, { recursive: true });
  const certificates = new LocalCa(join(folder, 'tls'), new SystemClock());
  return { ...(await certificates.current()), authority: certificates.authorityFile };
}
