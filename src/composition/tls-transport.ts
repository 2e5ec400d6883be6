import { X509Certificate } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { Server } from 'node:https';
import type { Middleware } from '../adapters/inbound/http/core/context.js';
import { createTlsServer, replaceIdentity } from '../adapters/inbound/http/server/server.js';
import type { TlsIdentity } from '../adapters/inbound/http/server/tls-options.js';
import { CertificateError } from '../adapters/outbound/certificates/check-key-pair.js';
import type { Logger } from '../application/ports/logger.js';
import { SettingsError } from '../config/settings.js';
import type { Instant } from '../domain/record.js';

/** The source of the certificate. */
export interface Certificates {
  /** @returns the certificate to serve now, with its key */
  current(): Promise<Served>;
}

interface Served extends TlsIdentity {
  /** The CA that a client has to trust; absent if a public one signed the certificate. */
  readonly authority?: string;
}

export interface TlsTransportOptions {
  readonly clientIp: Middleware;
  readonly headers: Readonly<Record<string, string>>;
  /** How often to look for a newer certificate. */
  readonly checkMs: number;
  readonly authorityFile: string | undefined;
  readonly logger: Logger;
}

const NEW_AUTHORITY =
  'the certificate is of a new certificate authority; clients refuse the service until they trust it';

/** TLS that the service terminates. From the next check on, new connections get a new certificate. */
export class TlsTransport {
  readonly clientIp: Middleware;
  readonly authorityFile: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  private lastError: string | undefined;
  private expiry: number | undefined;

  constructor(
    private readonly certificates: Certificates,
    private readonly options: TlsTransportOptions,
  ) {
    this.clientIp = options.clientIp;
    this.authorityFile = options.authorityFile;
  }

  async open(listener: RequestListener, publicUrl: () => string): Promise<Server> {
    const identity = await this.certificates.current().catch(throwAsSettingsError);
    const server = createTlsServer(identity, listener, { headers: this.options.headers, publicUrl });
    this.serves(identity);
    this.scheduleCheck(server, identity);
    return server;
  }

  /** When the certificate that is served expires. Undefined before {@link open}. */
  certificateExpiry(): Instant | undefined {
    return this.expiry;
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
  }

  /** @param identity of a chain, the first certificate counts */
  private serves({ cert }: TlsIdentity): void {
    this.expiry = Date.parse(new X509Certificate(cert).validTo);
  }

  private scheduleCheck(server: Server, served: Served): void {
    if (this.isClosed) return;
    this.timer = setTimeout(async () => {
      this.scheduleCheck(server, await this.check(server, served));
    }, this.options.checkMs).unref();
  }

  /** @returns the certificate to serve from now on */
  private async check(server: Server, served: Served): Promise<Served> {
    const { logger } = this.options;
    try {
      const current = await this.certificates.current();
      this.lastError = undefined;
      if (current.cert === served.cert && current.key === served.key) return served;
      replaceIdentity(server, current);
      this.serves(current);
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

function throwAsSettingsError(error: unknown): never {
  if (error instanceof CertificateError) throw new SettingsError([error.message]);
  throw error;
}
