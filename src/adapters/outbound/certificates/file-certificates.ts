import type { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../application/ports/clock.js';
import type { Journal } from '../../../application/ports/journal.js';
import { checkKeyPair, type PairFiles, type PairPart, unusable } from './check-key-pair.js';
import type { ServerIdentity } from './local-ca.js';

/** Files that changed are read once more after so long: what is still being written differs then. */
const SETTLE_MS = 200;

/** A certificate (its chain behind it) and its key, in PEM, in files that somebody else renews. */
export class FileCertificates {
  private known: ServerIdentity | undefined;

  constructor(
    private readonly files: PairFiles,
    private readonly clock: Clock,
    private readonly journal: Journal,
  ) {}

  /**
   * What the files hold now; while they are being written, what they held before. One that is not valid takes no other's
   * place, but is better than none.
   * @throws CertificateError
   */
  async current(): Promise<ServerIdentity> {
    const identity = await this.read();
    if (this.known) {
      if (isSame(identity, this.known)) return this.known;
      await sleep(SETTLE_MS);
      if (!isSame(identity, await this.read())) return this.known;
    }
    this.judge(checkKeyPair(this.files, identity));
    this.known = identity;
    return identity;
  }

  private judge({ validFrom, validTo }: X509Certificate): void {
    const now = this.clock.now();
    if (Date.parse(validFrom) <= now && now < Date.parse(validTo)) return;
    if (this.known) {
      const when = `is not valid now, but from ${validFrom} to ${validTo}`;
      throw unusable('certificate', this.files.certFile, when);
    }
    const details = { TLS_CERT_FILE: this.files.certFile, validFrom, validTo };
    this.journal.warn('the certificate is not valid now; clients will refuse it', details);
  }

  private async read(): Promise<ServerIdentity> {
    const { certFile, keyFile } = this.files;
    return { cert: await readText('certificate', certFile), key: await readText('key', keyFile) };
  }
}

function isSame(one: ServerIdentity, other: ServerIdentity): boolean {
  return one.cert === other.cert && one.key === other.key;
}

async function readText(what: PairPart, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw unusable(what, file, 'cannot be read', error);
  }
}
