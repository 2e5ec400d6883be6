import type { RequestListener } from 'node:http';
import type { Server } from 'node:net';
import { join } from 'node:path';
import type { Middleware } from '../adapters/inbound/http/context.js';
import { fromClients, fromProxies } from '../adapters/inbound/http/middleware/client-ip.js';
import { TrustedProxies } from '../adapters/inbound/http/server/ip-address.js';
import { STRICT_TRANSPORT } from '../adapters/inbound/http/server/security-headers.js';
import { createPlainServer } from '../adapters/inbound/http/server/server.js';
import { FileCertificates } from '../adapters/outbound/certificates/file-certificates.js';
import { LocalCa } from '../adapters/outbound/certificates/local-ca.js';
import type { Clock } from '../application/ports/clock.js';
import type { Journal } from '../application/ports/journal.js';
import type { Settings } from '../config/settings.js';
import { TlsTransport } from './tls-transport.js';

/** How requests reach the service. */
export interface Transport {
  readonly arrival: Middleware;
  /** What a client is to trust, where that is no public authority. */
  readonly authorityFile: string | undefined;
  /**
   * A server that does not listen yet. Called once.
   * @throws SettingsError
   */
  open(answer: RequestListener): Promise<Server>;
  close(): void;
}

/** How often certificates are checked. After a clock is corrected, one that is not yet valid is shown no longer than this. */
const SELF_SIGNED_CHECK_MS = 60_000;
const FILES_CHECK_MS = 1_000;

type Make = (settings: Settings, clock: Clock, journal: Journal) => Transport;

/** For each value of the setting TLS, the transport that it stands for. */
export const TRANSPORTS: Readonly<Record<Settings['TLS'], Make>> = {
  // Without Strict-Transport-Security: it would bind every port of localhost.
  'self-signed': ({ DATA_DIR }, clock, journal) => {
    const certificates = new LocalCa(join(DATA_DIR, 'tls'), clock);
    return new TlsTransport(certificates, {
      arrival: fromClients,
      headers: {},
      checkMs: SELF_SIGNED_CHECK_MS,
      authorityFile: certificates.authorityFile,
      journal,
    });
  },
  files: ({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile }, clock, journal) => {
    return new TlsTransport(new FileCertificates({ certFile, keyFile }, clock, journal), {
      arrival: fromClients,
      headers: STRICT_TRANSPORT,
      checkMs: FILES_CHECK_MS,
      authorityFile: undefined,
      journal,
    });
  },
  proxy: ({ TRUSTED_PROXIES }) => ({
    arrival: fromProxies(new TrustedProxies(TRUSTED_PROXIES)),
    authorityFile: undefined,
    open: async (answer) => createPlainServer(answer, { headers: STRICT_TRANSPORT }),
    close: () => {},
  }),
};
