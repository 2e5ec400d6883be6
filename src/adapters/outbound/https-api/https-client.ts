import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { rootCertificates } from 'node:tls';
import { unavailable } from '../../../domain/errors.js';

/** The time for a response, its body included. The service itself ends a JSON request within 30 s. */
const TIMEOUT_MS = 40_000;
/** The limit of a body. A page of the service ends at about 4 MiB. */
const MAX_MIB = 16;

/** The codes of OpenSSL for a certificate of an unknown CA. */
const UNTRUSTED_CA_CODES = /SELF_SIGNED|UNABLE_TO/;

export interface HttpsRequest {
  readonly method: string;
  /** An absolute path with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: object;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpsResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** The service that a client talks to. */
export interface HttpsTarget {
  /** An https address without a slash at the end. It has a path if a proxy removes one. */
  readonly url: string;
  /** A bearer token (RFC 6750), such as an API key. */
  readonly token: string;
  /** Certificates of CAs to trust besides the public ones, in PEM. */
  readonly authorities: readonly string[];
}

/**
 * Sends one request on a connection of its own, and follows no redirect, so the token reaches only the target.
 * @throws AppError `unavailable` if there is no response, or it has more than 16 MiB
 */
export async function sendHttps(target: HttpsTarget, request: HttpsRequest): Promise<HttpsResponse> {
  const { url, token, authorities } = target;
  const body = request.body && JSON.stringify(request.body);
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const sent = httpsRequest(new URL(url + request.path), {
      method: request.method,
      agent: false,
      signal: request.signal ? AbortSignal.any([request.signal, timeout]) : timeout,
      headers: {
        Accept: 'application/json',
        Authorization: `Bearer ${token}`,
        'Content-Length': Buffer.byteLength(body ?? ''),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...request.headers,
      },
      ...(authorities.length > 0 && { ca: [...rootCertificates, ...authorities] }),
    });
    sent.end(body);
    const response = await responseTo(sent);
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of response) {
      length += chunk.length;
      if (length > MAX_MIB * 2 ** 20) throw new Error(`more than ${MAX_MIB} MiB came`);
      chunks.push(chunk);
    }
    const { statusCode: status = 0, headers } = response;
    return { status, headers, text: Buffer.concat(chunks).toString() };
  } catch (error) {
    throw unavailable(`${url} does not respond: ${reasonOf(error as Error, timeout)}`, error);
  }
}

function responseTo(request: ReturnType<typeof httpsRequest>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => request.once('response', resolve).on('error', reject));
}

/** @param error may be one error for each address of a host, without a message of its own */
function reasonOf(error: NodeJS.ErrnoException, timeout: AbortSignal): string {
  if (timeout.aborted) return `nothing came within ${TIMEOUT_MS / 1_000} s`;
  const text = error.message || (error.code ?? error.name);
  if (!UNTRUSTED_CA_CODES.test(error.code ?? '')) return text;
  return `${text}. Set DATA_DIR to the folder of the service, or NODE_EXTRA_CA_CERTS to the file of its CA`;
}
