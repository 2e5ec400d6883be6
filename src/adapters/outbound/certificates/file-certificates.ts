import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../../../application/ports/clock.js';
import type { Logger } from '../../../application/ports/logger.js';
import { systemReason } from '../../../shared/shown-text.js';

/**
 * The certificate and private key of a TLS server, as PEM texts. The server's own certificate comes first in `cert`.
 */
export interface TlsIdentity {
  readonly cert: string;
  readonly key: string;
}

/**
 * A certificate or key that a server cannot use. The message names the setting, the file and the problem, and quotes
 * nothing from the file.
 */
export class CertificateError extends Error {}

export interface PairFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

const SETTINGS = { certificate: 'TLS_CERT_FILE', key: 'TLS_KEY_FILE' } as const;

type PairPart = keyof typeof SETTINGS;

const MIN_RSA_BITS = 2_048;
/**
 * The curves of TLS 1.3 (RFC 8446 section 4.2.3). OpenSSL accepts a key on another curve, then fails at each handshake.
 */
const CURVES: readonly (string | undefined)[] = ['prime256v1', 'secp384r1', 'secp521r1'];

const CERTIFICATE = /-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/;
const PRIVATE_KEY = /-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY-----/;
const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;
const PEM_BLOCK = /-----BEGIN ([^-]+)-----[^-]+-----END \1-----/g;

/**
 * Checks that a server can use the pair.
 * @returns the server's own certificate
 * @throws CertificateError
 */
export function checkKeyPair({ certFile, keyFile }: PairFiles, { cert, key }: TlsIdentity): X509Certificate {
  if (!CERTIFICATE.test(cert)) throw certificateError('certificate', certFile, 'holds no certificate in PEM');
  const certificate = attempt('certificate', certFile, () => new X509Certificate(cert));
  if (isCutOff(cert)) throw certificateError('certificate', certFile, 'is cut off');
  if (ENCRYPTED.test(key)) throw certificateError('key', keyFile, 'is encrypted; it is needed without a passphrase');
  if (!PRIVATE_KEY.test(key)) throw certificateError('key', keyFile, 'holds no private key in PEM');
  const privateKey = attempt('key', keyFile, () => createPrivateKey(key));
  if (isWeak(privateKey)) throw certificateError('key', keyFile, 'is too weak, or of a kind that TLS cannot use');
  // OpenSSL accepts a pair of two different algorithms, then fails at each handshake.
  if (!certificate.checkPrivateKey(privateKey))
    throw certificateError('key', keyFile, `is not the one of the certificate ${certFile} (${SETTINGS.certificate})`);
  attempt('certificate', certFile, () => createSecureContext({ cert, key }));
  return certificate;
}

function certificateError(what: PairPart, file: string, issue: string, error?: unknown): CertificateError {
  const isOfSystem = error instanceof Error && 'errno' in error;
  const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
  const reason = isOfSystem ? `: ${systemReason(error)}` : code;
  return new CertificateError(`${SETTINGS[what]}: the ${what} ${file} ${issue}${reason}`);
}

/**
 * Whether the text ends inside a PEM block. OpenSSL ignores an incomplete block, so it would accept half of a chain
 * that is being written.
 */
function isCutOff(pem: string): boolean {
  return /(^|\n)-[^\n]*$/.test(pem.replace(PEM_BLOCK, '').trimEnd());
}

function isWeak({ asymmetricKeyType: kind, asymmetricKeyDetails: details }: KeyObject): boolean {
  if (kind === 'rsa' || kind === 'rsa-pss') return (details?.modulusLength ?? 0) < MIN_RSA_BITS;
  if (kind === 'ec') return !CURVES.includes(details?.namedCurve);
  return kind !== 'ed25519' && kind !== 'ed448';
}

function attempt<Result>(what: PairPart, file: string, make: () => Result): Result {
  try {
    return make();
  } catch (error) {
    throw certificateError(what, file, 'cannot be used', error);
  }
}

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
    const identity = await readPair(this.files);
    if (this.last) {
      if (isSame(identity, this.last)) return this.last;
      await this.settle();
      if (!isSame(identity, await readPair(this.files))) return this.last;
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
}

function isSame(one: TlsIdentity, other: TlsIdentity): boolean {
  return one.cert === other.cert && one.key === other.key;
}

/** @throws CertificateError */
export async function readPair({ certFile, keyFile }: PairFiles): Promise<TlsIdentity> {
  return { cert: await readText('certificate', certFile), key: await readText('key', keyFile) };
}

async function readText(what: PairPart, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw certificateError(what, file, 'cannot be read', error);
  }
}
