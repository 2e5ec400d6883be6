import { constants } from 'node:crypto';
import { createSecureContext } from 'node:tls';

/** The suites of TLS 1.3, and those of TLS 1.2 with forward secrecy and authenticated encryption. */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/**
 * The key exchange groups. OpenSSL's default includes finite fields of 8,192 bits, which cost the server a hundred
 * times as much as the client. The first group needs OpenSSL 3.5.
 */
const GROUPS = ['X25519MLKEM768', 'X25519', 'prime256v1', 'secp384r1'];
let knownGroups: string | undefined;

/** A certificate and its private key, as PEM. */
export interface TlsIdentity {
  readonly cert: string;
  readonly key: string;
}

/** All TLS options of the server. `setSecureContext` replaces missing ones by Node's defaults. */
export function tlsOptions(identity: TlsIdentity) {
  return {
    ...identity,
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
    honorCipherOrder: true,
    ecdhCurve: offeredGroups(),
    // Otherwise a TLS 1.2 client could request any number of handshakes on one connection.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  } as const;
}

/** The groups that OpenSSL knows. Computed on first use, because not every importer serves TLS. */
function offeredGroups(): string {
  knownGroups ??= GROUPS.filter(isKnown).join(':');
  return knownGroups;
}

function isKnown(group: string): boolean {
  try {
    createSecureContext({ ecdhCurve: group });
    return true;
  } catch {
    return false;
  }
}
