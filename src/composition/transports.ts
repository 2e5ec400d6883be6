import { join } from 'node:path';
import { type ClientAddress, directAddress, proxiedAddress } from '../adapters/inbound/http/middleware/limits.js';
import { TrustedProxies } from '../adapters/inbound/http/server/ip-address.js';
import { STRICT_TRANSPORT } from '../adapters/inbound/http/server/server.js';
import { FileCertificates } from '../adapters/outbound/certificates/file-certificates.js';
import { LocalCa } from '../adapters/outbound/certificates/local-ca.js';
import { ServedCertificate } from '../adapters/outbound/certificates/served-certificate.js';
import type { Clock } from '../application/ports/clock.js';
import type { Logger } from '../application/ports/logger.js';
import { certificateNames, type Settings } from '../config/settings.js';

/** How requests reach the service. */
export interface Transport {
  readonly clientAddress: ClientAddress;
  /** The headers of every response. */
  readonly headers: Readonly<Record<string, string>>;
  /** Absent: a proxy ends TLS. */
  readonly certificate?: ServedCertificate;
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
    const ca = new LocalCa(join(settings.DATA_DIR, 'tls'), clock, certificateNames(settings));
    const options = { checkMs: SELF_SIGNED_CHECK_MS, authorityFile: ca.authorityFile, logger };
    return { clientAddress: directAddress, headers: {}, certificate: new ServedCertificate(ca, options) };
  },
  files: ({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile }, clock, logger) => {
    const files = new FileCertificates({ certFile, keyFile }, clock, logger);
    const options = { checkMs: FILES_CHECK_MS, authorityFile: undefined, logger };
    return {
      clientAddress: directAddress,
      headers: STRICT_TRANSPORT,
      certificate: new ServedCertificate(files, options),
    };
  },
  proxy: ({ TRUSTED_PROXIES }) => ({
    clientAddress: proxiedAddress(new TrustedProxies(TRUSTED_PROXIES)),
    headers: STRICT_TRANSPORT,
  }),
};
