import type { RequestListener } from 'node:http';
import type { Server } from 'node:https';
import type { Middleware } from '../adapters/inbound/http/context.js';
import { createTlsServer, replaceIdentity } from '../adapters/inbound/http/server/server.js';
import type { TlsIdentity } from '../adapters/inbound/http/server/tls-options.js';
import { CertificateError } from '../adapters/outbound/certificates/check-key-pair.js';
import type { Journal } from '../application/ports/journal.js';
import { SettingsError } from '../config/settings.js';

/** Gives the certificate that is to be shown now. */
export interface Certificates {
  current(): Promise<TlsIdentity>;
}

export interface TlsTransportOptions {
  readonly arrival: Middleware;
  readonly headers: Readonly<Record<string, string>>;
  /** How long a certificate is shown until somebody looks for a newer one. */
  readonly checkMs: number;
  readonly authorityFile: string | undefined;
  readonly journal: Journal;
}

/** TLS that the service ends itself, with whatever certificate is the current one. */
export class TlsTransport {
  readonly arrival: Middleware;
  readonly authorityFile: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  private lastFault: string | undefined;

  constructor(
    private readonly certificates: Certificates,
    private readonly options: TlsTransportOptions,
  ) {
    this.arrival = options.arrival;
    this.authorityFile = options.authorityFile;
  }

  async open(answer: RequestListener): Promise<Server> {
    const identity = await this.certificates.current().catch(asSettingsError);
    const server = createTlsServer(identity, answer, { headers: this.options.headers });
    this.lookLater(server, identity);
    return server;
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
  }

  private lookLater(server: Server, shown: TlsIdentity): void {
    if (this.isClosed) return;
    this.timer = setTimeout(async () => {
      this.lookLater(server, await this.look(server, shown));
    }, this.options.checkMs).unref();
  }

  /** @returns what is shown from now on */
  private async look(server: Server, shown: TlsIdentity): Promise<TlsIdentity> {
    const { journal } = this.options;
    try {
      const current = await this.certificates.current();
      this.lastFault = undefined;
      if (current.cert === shown.cert && current.key === shown.key) return shown;
      replaceIdentity(server, current);
      journal.info('another certificate is shown from now on');
      return current;
    } catch (error) {
      // Once, not each second.
      if (String(error) !== this.lastFault) journal.error('the certificate could not be renewed', { error });
      this.lastFault = String(error);
      return shown;
    }
  }
}

function asSettingsError(error: unknown): never {
  if (error instanceof CertificateError) throw new SettingsError([error.message]);
  throw error;
}
