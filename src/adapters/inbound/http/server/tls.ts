import { constants } from 'node:crypto';
import type { Server } from 'node:https';
import { createSecureContext, type TLSSocket } from 'node:tls';
import { connectionOf } from './connection.js';

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

/** The errors of OpenSSL for plain HTTP. It recognises some methods, and reads the others as a TLS version. */
const NOT_TLS = ['ERR_SSL_HTTP_REQUEST', 'ERR_SSL_HTTPS_PROXY_REQUEST', 'ERR_SSL_WRONG_VERSION_NUMBER'];

/**
 * Responds to plain HTTP on the TLS port. By hand: Node closes the connection without a response (nodejs/node#23331).
 * Delete this file when Node passes a writable socket to the listeners of such an error.
 */
export function refusePlainHttp(server: Server, publicUrl: () => string): void {
  // Runs before Node's own listener, which closes the connection.
  server.prependListener('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    if (!NOT_TLS.includes(error.code ?? '')) return;
    // Writes to the TCP socket, below TLS. The client may already have disconnected.
    connectionOf(socket)
      .tcp.on('error', () => {})
      .write(httpsMeant(publicUrl()));
  });
}

/** @param url the public URL, in ASCII; never a text from the request */
function httpsMeant(url: string): string {
  const text = `This port serves HTTPS alone: use https:// in the address, as in ${url}\n`;
  return [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${text.length}`,
    'Connection: close',
    '',
    text,
  ].join('\r\n');
}
