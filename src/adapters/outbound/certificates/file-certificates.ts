import type { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../application/ports/clock.js';
import type { Logger } from '../../../application/ports/logger.js';
import {
  certificateError,
  checkKeyPair,
  type PairFiles,
  type PairPart,
  type TlsIdentity,
} from './check-key-pair.js';

/** Changed files are read again after this pause. A file that is still being written has changed again by then. */
const SETTLE_MS = 200;

/** A certificate with its chain, and its key, in PEM files that another program renews. */
export class FileCertificates {
  private last: TlsIdentity | undefined;

  /** @param settle waits until changed files are read again */
  constructor(
    private readonly files: PairFiles,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly settle: () => Promise<void> = () => sleep(SETTLE_MS),
  ) {}

  /**
   * Returns the contents of the files, or the previous contents while the files are being written. A certificate that
   * is not valid now is used only at the start, when there is no previous one.
   * @throws CertificateError
   */
  async current(): Promise<TlsIdentity> {
    const identity = await this.read();
    if (this.last) {
      if (isSame(identity, this.last)) return this.last;
      await this.settle();
      if (!isSame(identity, await this.read())) return this.last;
    }
    this.checkValidity(checkKeyPair(this.files, identity));
    this.last = identity;
    return identity;
  }

  private checkValidity({ validFrom, validTo }: X509Certificate): void {
    const now = this.clock.now();
    if (Date.parse(validFrom) <= now && now < Date.parse(validTo)) return;
    if (this.last) {
      const problem = `is not valid now, but from ${validFrom} to ${validTo}`;
      throw certificateError('certificate', this.files.certFile, problem);
    }
    const details = { TLS_CERT_FILE: this.files.certFile, validFrom, validTo };
    this.logger.warn('the certificate is not valid now; clients will refuse it', details);
  }

  private async read(): Promise<TlsIdentity> {
    const { certFile, keyFile } = this.files;
    return { cert: await readText('certificate', certFile), key: await readText('key', keyFile) };
  }
}

function isSame(one: TlsIdentity, other: TlsIdentity): boolean {
  return one.cert === other.cert && one.key === other.key;
}

async function readText(what: PairPart, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw certificateError(what, file, 'cannot be read', error);
  }
}
