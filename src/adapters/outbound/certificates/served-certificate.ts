import { X509Certificate } from 'node:crypto';
import type { Logger } from '../../../application/ports/logger.js';
import type { Instant } from '../../../domain/record.js';
import type { TlsIdentity } from './file-certificates.js';

export interface Certificates {
  /**
   * @returns the certificate to serve now, with its key
   * @throws CertificateError
   */
  current(): Promise<Served>;
}

interface Served extends TlsIdentity {
  /** The CA that a client has to trust; absent if a public one signed the certificate. */
  readonly authority?: string;
}

export interface ServedCertificateOptions {
  /** How often to look for a newer certificate. */
  readonly checkMs: number;
  /** The file of the CA that a client has to trust; absent if a public one signed the certificate. */
  readonly authorityFile: string | undefined;
  readonly logger: Logger;
}

const NEW_AUTHORITY =
  'the certificate is of a new certificate authority; clients refuse the service until they trust it';

/** The certificate of a server. From the next check on, new connections get a newer one. */
export class ServedCertificate {
  readonly authorityFile: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  private lastError: string | undefined;
  private served: Served | undefined;

  constructor(
    private readonly certificates: Certificates,
    private readonly options: ServedCertificateOptions,
  ) {
    this.authorityFile = options.authorityFile;
  }

  /**
   * Returns the certificate that the server starts with, and looks for newer ones until {@link close}.
   * @param replace gives the server another certificate
   * @throws CertificateError
   */
  async open(replace: (identity: TlsIdentity) => void): Promise<TlsIdentity> {
    this.served = await this.certificates.current();
    this.scheduleCheck(this.served, replace);
    return this.served;
  }

  /** When the certificate that is served expires: of a chain, the first one counts. Undefined before {@link open}. */
  get expiry(): Instant | undefined {
    return this.served && Date.parse(new X509Certificate(this.served.cert).validTo);
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
  }

  private scheduleCheck(served: Served, replace: (identity: TlsIdentity) => void): void {
    if (this.isClosed) return;
    this.timer = setTimeout(async () => {
      this.served = await this.check(served, replace);
      this.scheduleCheck(this.served, replace);
    }, this.options.checkMs).unref();
  }

  /** @returns the certificate to serve from now on */
  private async check(served: Served, replace: (identity: TlsIdentity) => void): Promise<Served> {
    const { logger } = this.options;
    try {
      const current = await this.certificates.current();
      this.lastError = undefined;
      if (current.cert === served.cert && current.key === served.key) return served;
      replace(current);
      if (current.authority === served.authority) logger.info('certificate reloaded');
      else logger.warn(NEW_AUTHORITY, { authorityFile: this.options.authorityFile });
      return current;
    } catch (error) {
      // The same error is logged once, not at every check.
      if (String(error) !== this.lastError) logger.error('the certificate could not be renewed', { error });
      this.lastError = String(error);
      return served;
    }
  }
}
