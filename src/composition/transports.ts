import type { RequestListener } from 'node:http';
import type { Server } from 'node:net';
import { join } from 'node:path';
import type { Middleware } from '../adapters/inbound/http/core/context.js';
import { directClientIp, proxiedClientIp } from '../adapters/inbound/http/middleware/client-ip.js';
import { TrustedProxies } from '../adapters/inbound/http/server/ip-address.js';
import { STRICT_TRANSPORT } from '../adapters/inbound/http/server/security-headers.js';
import { createPlainServer } from '../adapters/inbound/http/server/server.js';
import { FileCertificates } from '../adapters/outbound/certificates/file-certificates.js';
import { LocalCa } from '../adapters/outbound/certificates/local-ca.js';
import type { Clock } from '../application/ports/clock.js';
import type { Logger } from '../application/ports/logger.js';
import type { Settings } from '../config/settings.js';
import type { Instant } from '../domain/record.js';
import { certificateNames } from './certificate-names.js';
import { TlsTransport } from './tls-transport.js';

/** How requests reach the service. */
export interface Transport {
  readonly clientIp: Middleware;
  /** The CA that a client has to trust; absent if a public one signed the certificate. */
  readonly authorityFile: string | undefined;
  /**
   * Returns a server that does not listen yet. Called once.
   * @param publicUrl called once it listens
   * @throws SettingsError
   */
  open(listener: RequestListener, publicUrl: () => string): Promise<Server>;
  /** When the certificate that is served expires. Undefined if none is served. */
  certificateExpiry(): Instant | undefined;
  close(): void;
}

/**
 * How often certificates are checked. After the clock is corrected, a certificate that is not yet valid is served for
 * at most this long.
 */
const SELF_SIGNED_CHECK_MS = 60_000;
const FILES_CHECK_MS = 1_000;

type Make = (settings: Settings, clock: Clock, logger: Logger) => Transport;

/** For each value of the setting TLS: makes its transport. */
export const TRANSPORTS: Readonly<Record<Settings['TLS'], Make>> = {
  // Sends no Strict-Transport-Security, because the header would bind every port of localhost.
  'self-signed': (settings, clock, logger) => {
    const certificates = new LocalCa(join(settings.DATA_DIR, 'tls'), clock, certificateNames(settings));
    return new TlsTransport(certificates, {
      clientIp: directClientIp,
      headers: {},
      checkMs: SELF_SIGNED_CHECK_MS,
      authorityFile: certificates.authorityFile,
      logger,
    });
  },
  files: ({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile }, clock, logger) => {
    return new TlsTransport(new FileCertificates({ certFile, keyFile }, clock, logger), {
      clientIp: directClientIp,
      headers: STRICT_TRANSPORT,
      checkMs: FILES_CHECK_MS,
      authorityFile: undefined,
      logger,
    });
  },
  proxy: ({ TRUSTED_PROXIES }) => ({
    clientIp: proxiedClientIp(new TrustedProxies(TRUSTED_PROXIES)),
    authorityFile: undefined,
    open: async (listener) => createPlainServer(listener, { headers: STRICT_TRANSPORT }),
    certificateExpiry: () => undefined,
    close: () => {},
  }),
};
