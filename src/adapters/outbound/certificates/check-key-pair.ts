import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { ServerIdentity } from './local-ca.js';

/** The message names the setting at fault, its file, and what is wrong with that; it quotes nothing. */
export class CertificateError extends Error {}

/** Where a pair came from. */
export interface PairFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** The settings that name the files. */
const SETTINGS = { certificate: 'TLS_CERT_FILE', key: 'TLS_KEY_FILE' } as const;

export type PairPart = keyof typeof SETTINGS;

const MIN_RSA_BITS = 2_048;
/** Those that TLS 1.3 has (RFC 8446 section 4.2.3). OpenSSL takes a key on any other and then fails at each handshake. */
const CURVES: readonly (string | undefined)[] = ['prime256v1', 'secp384r1', 'secp521r1'];

const CERTIFICATE = /-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/;
const PRIVATE_KEY = /-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY-----/;
const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;
const PEM_BLOCK = /-----BEGIN ([^-]+)-----[^-]+-----END \1-----/g;

/**
 * @returns the certificate that clients will see first
 * @throws CertificateError where a server could not be what this pair says
 */
export function checkKeyPair(
  { certFile, keyFile }: PairFiles,
  { cert, key }: ServerIdentity,
): X509Certificate {
  if (!CERTIFICATE.test(cert)) throw unusable('certificate', certFile, 'holds no certificate in PEM');
  const certificate = attempt('certificate', certFile, () => new X509Certificate(cert));
  if (isCutOff(cert)) throw unusable('certificate', certFile, 'is cut off');
  if (ENCRYPTED.test(key)) throw unusable('key', keyFile, 'is encrypted; it is needed without a passphrase');
  if (!PRIVATE_KEY.test(key)) throw unusable('key', keyFile, 'holds no private key in PEM');
  const privateKey = attempt('key', keyFile, () => createPrivateKey(key));
  if (isWeak(privateKey)) throw unusable('key', keyFile, 'is too weak, or of a kind that TLS has no use for');
  // OpenSSL itself takes a pair of two different algorithms, and then fails at each handshake.
  if (!certificate.checkPrivateKey(privateKey))
    throw unusable('key', keyFile, `is not the one of the certificate ${certFile} (${SETTINGS.certificate})`);
  attempt('certificate', certFile, () => createSecureContext({ cert, key }));
  return certificate;
}

export function unusable(what: PairPart, file: string, trouble: string, error?: unknown): CertificateError {
  const reason = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
  return new CertificateError(`${SETTINGS[what]}: the ${what} ${file} ${trouble}${reason}`);
}

/** OpenSSL leaves out what begins no block: of a chain that is still being written it would take the part. */
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
    throw unusable(what, file, 'cannot be used', error);
  }
}
