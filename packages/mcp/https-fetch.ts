import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { rootCertificates } from 'node:tls';
import type { Fetch } from '#packages/client/index.js';
import { type ErrorBody, RequestRefused, Unavailable } from './errors.js';

/** The time for a response, its body included. The service itself ends a JSON request within 30 s. */
const TIMEOUT_MS = 40_000;
/** The limit of a body. A page of the service ends at about 4 MiB. */
const MAX_MIB = 16;

/** The codes of OpenSSL for a certificate of an unknown CA. */
const UNTRUSTED_CA_CODES = /SELF_SIGNED|UNABLE_TO/;

/**
 * Returns a `fetch` for the client that trusts further CAs, as the one of Node 20 cannot. It sends each request on a
 * connection of its own and follows no redirect, so the token reaches only the target. It throws
 * - RequestRefused if the response is no success, or no JSON. The error that the client would make of it has the words
 *   of the service only in part.
 * - Unavailable if there is no response, or it has more than 16 MiB
 * @param url the service, as errors name it
 * @param authorities certificates of CAs to trust besides the public ones, in PEM
 */
export function httpsFetch(url: string, authorities: readonly string[]): Fetch {
  return async (request) => {
    const { status, headers, text } = await send(request, url, authorities);
    const isSuccess = status >= 200 && status < 300;
    if (isSuccess && request.method === 'DELETE') return new Response(null, { status: 204 });
    const value = parsed(text);
    if (!isSuccess || value === undefined) {
      const seconds = Number(headers['retry-after'] ?? Number.NaN);
      throw new RequestRefused(status, errorIn(value, status), Number.isNaN(seconds) ? undefined : seconds);
    }
    // It is JSON, whatever a proxy calls it.
    const shown = { ...(headers as Record<string, string>), 'content-type': 'application/json' };
    return new Response(text, { status, headers: shown });
  };
}

async function send(request: Request, url: string, authorities: readonly string[]) {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const body = await request.text();
    const sent = httpsRequest(request.url, {
      method: request.method,
      agent: false,
      signal: AbortSignal.any([request.signal, timeout]),
      headers: {
        ...Object.fromEntries(request.headers),
        accept: 'application/json',
        'content-length': Buffer.byteLength(body),
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
    throw new Unavailable(`${url} does not respond: ${reasonOf(error as Error, timeout)}`);
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

/** Returns undefined if the text is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the error that the service responds with. A proxy may respond in its own words. */
function errorIn(value: unknown, status: number): ErrorBody {
  const body = Object(value) as ErrorBody;
  if (typeof body.code === 'string' && typeof body.message === 'string') return body;
  const message = `The response has status ${status} and is not one of the service`;
  return { code: 'unexpected_response', message, details: [] };
}
