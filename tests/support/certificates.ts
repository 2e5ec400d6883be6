import { join } from 'node:path';
import { LocalCa } from '#src/adapters/outbound/certificates/local-ca.js';
import { SystemClock } from '#src/adapters/outbound/system/clock.js';

/** A certificate for localhost and its key, PEM texts, from a CA of its own under this folder. */
export async function serverPair(folder: string): Promise<{ cert: string; key: string; authority: string }> {
  const certificates = new LocalCa(join(folder, 'tls'), new SystemClock());
  return { ...(await certificates.current()), authority: certificates.authorityFile };
}
