import { constants } from 'node:crypto';
import { createSecureContext } from 'node:tls';

/** TLS 1.3, and of TLS 1.2 only forward-secret suites with authenticated encryption. */
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
 * What OpenSSL offers unasked includes finite fields of 8,192 bits: a client that chooses those costs the server a
 * hundred times what it pays itself. The first is of OpenSSL 3.5 and later.
 */
const GROUPS = ['X25519MLKEM768', 'X25519', 'prime256v1', 'secp384r1'];
let knownGroups: string | undefined;

/** PEM texts. */
export interface TlsIdentity {
  readonly cert: string;
  readonly key: string;
}

/** Whole each time: what `setSecureContext` is not told falls back to Node's own choice. */
export function tlsOptions(identity: TlsIdentity) {
  return {
    ...identity,
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
    honorCipherOrder: true,
    ecdhCurve: offeredGroups(),
    // A client of TLS 1.2 could have the server make handshake after handshake on one connection.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  } as const;
}

/** Found out when it is first needed: most of what imports this file serves no TLS. */
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
