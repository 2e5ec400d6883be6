import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

const DAY_MS = 86_400_000;

const KINDS = {
  EC: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  RSA: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', publicExponent: new Uint8Array([1, 0, 1]), modulusLength: 2048 },
};

export interface Chain {
  /** PEM: the certificate for localhost, then the intermediate CA. */
  readonly cert: string;
  readonly key: string;
  /** PEM: the root CA, which a client trusts. */
  readonly authority: string;
}

/** Returns a certificate for localhost as a public CA issues it: signed by an intermediate CA that the root signed. */
export async function chain(
  kind: keyof typeof KINDS,
  validity = { from: Date.now() - DAY_MS, to: Date.now() + 90 * DAY_MS },
): Promise<Chain> {
  const algorithm = KINDS[kind];
  const [rootKeys, intermediateKeys, leafKeys] = await Promise.all([1, 2, 3].map(() => generate(algorithm)));
  if (!rootKeys || !intermediateKeys || !leafKeys) throw new Error('unreachable');
  const certify = (subject: string, keys: webcrypto.CryptoKeyPair, issuer: string, by = keys) =>
    X509CertificateGenerator.create({
      serialNumber: `00${randomBytes(15).toString('hex')}`,
      subject: `CN=${subject}`,
      issuer: `CN=${issuer}`,
      notBefore: new Date(subject === 'localhost' ? validity.from : Date.now() - 900 * DAY_MS),
      notAfter: new Date(subject === 'localhost' ? validity.to : Date.now() + 900 * DAY_MS),
      publicKey: keys.publicKey,
      signingKey: by.privateKey,
      signingAlgorithm: algorithm,
      extensions:
        subject === 'localhost'
          ? [new SubjectAlternativeNameExtension([{ type: 'dns', value: 'localhost' }])]
          : [new BasicConstraintsExtension(true, undefined, true)],
    });
  const root = await certify('Root', rootKeys, 'Root');
  const intermediate = await certify('Intermediate', intermediateKeys, 'Root', rootKeys);
  const leaf = await certify('localhost', leafKeys, 'Intermediate', intermediateKeys);
  return { cert: pem(leaf) + pem(intermediate), key: await keyText(leafKeys.privateKey), authority: pem(root) };
}

function generate(algorithm: (typeof KINDS)[keyof typeof KINDS]): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

function pem(certificate: X509Certificate): string {
  return `${certificate.toString('pem')}\n`;
}

async function keyText(key: webcrypto.CryptoKey): Promise<string> {
  return PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}
