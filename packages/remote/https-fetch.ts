import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline, Readable } from 'node:stream';
import { rootCertificates } from 'node:tls';
import type { Fetch } from '#packages/client/index.js';
import { type ErrorBody, RequestRefused, Unavailable } from './errors.js';

/** The time without a byte in either direction. The service itself ends a request or a stream without one after 30 s. */
const TIMEOUT_MS = 40_000;
/** The limit of a body that is no stream. A page of the service ends at about 4 MiB. */
const MAX_MIB = 16;

const NDJSON = 'application/x-ndjson';
/** The codes of OpenSSL for a certificate of an unknown CA. */
const UNTRUSTED_CA_CODES = /SELF_SIGNED|UNABLE_TO/;

/**
 * Returns a `fetch` for the client that trusts further CAs, as the one of Node 20 cannot. It sends each request on a
 * connection of its own and follows no redirect, so the token reaches only the target. A response that may be NDJSON is a
 * stream, and can begin before the body of its request has ended. It throws
 * - RequestRefused if the response is no success, or of another type. The error that the client would make of it has the
 *   words of the service only in part.
 * - Unavailable if there is no response, it breaks off, or it has more than 16 MiB and is no stream
 * @param url the service, as errors name it
 * @param authorities certificates of CAs to trust besides the public ones, in PEM
 */
export function httpsFetch(url: string, authorities: readonly string[]): Fetch {
  return async (request) => {
    const late = new AbortController();
    const unavailable = (error: unknown) =>
      new Unavailable(`${url} does not respond: ${reasonOf(error as Error, late.signal)}`);
    const isStream = request.headers.get('Accept') === NDJSON;
    const body = isStream ? bodyOf(request) : Buffer.from(await request.arrayBuffer());
    const sent = httpsRequest(request.url, {
      method: request.method,
      agent: false,
      timeout: TIMEOUT_MS,
      signal: AbortSignal.any([request.signal, late.signal]),
      headers: {
        ...Object.fromEntries(request.headers),
        ...(body instanceof Buffer && { accept: 'application/json', 'content-length': body.length }),
      },
      ...(authorities.length > 0 && { ca: [...rootCertificates, ...authorities] }),
    }).on('timeout', () => late.abort());
    const arrived = responseTo(sent);
    if (body instanceof Buffer) sent.end(body);
    // An error of the body breaks the request off, so that the service does not take it for complete.
    else pipeline(body, sent, () => {});
    const chunks = async function* () {
      try {
        yield* await arrived;
      } catch (error) {
        throw unavailable(error);
      } finally {
        // A refusal can arrive before the whole body is sent.
        sent.destroy();
      }
    };
    const { statusCode: status = 0, headers } = await arrived.catch((error) => {
      throw unavailable(error);
    });
    const isSuccess = status >= 200 && status < 300;
    const shown = headers as Record<string, string>;
    if (isStream && isSuccess && headers['content-type']?.startsWith(NDJSON))
      return new Response(ReadableStream.from(chunks()), { status, headers: shown });
    const text = await textOf(chunks(), unavailable);
    if (isSuccess && request.method === 'DELETE') return new Response(null, { status: 204 });
    const value = parsed(text);
    if (!isSuccess || isStream || value === undefined) {
      const seconds = Number(headers['retry-after'] ?? Number.NaN);
      throw new RequestRefused(status, errorIn(value, status), Number.isNaN(seconds) ? undefined : seconds);
    }
    // It is JSON, whatever a proxy calls it.
    return new Response(text, { status, headers: { ...shown, 'content-type': 'application/json' } });
  };
}

function bodyOf({ body }: Request): Readable {
  return body ? Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]) : Readable.from([]);
}

function responseTo(request: ReturnType<typeof httpsRequest>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => request.once('response', resolve).on('error', reject));
}

async function textOf(chunks: AsyncIterable<Buffer>, unavailable: (error: Error) => Error): Promise<string> {
  const read: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > MAX_MIB * 2 ** 20) throw unavailable(new Error(`more than ${MAX_MIB} MiB came`));
    read.push(chunk);
  }
  return Buffer.concat(read).toString();
}

/** @param error may be one error for each address of a host, without a message of its own */
function reasonOf(error: NodeJS.ErrnoException, late: AbortSignal): string {
  if (late.aborted) return `nothing came within ${TIMEOUT_MS / 1_000} s`;
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
  if (typeof body.code === 'string' && typeof body.message === 'string')
    return { ...body, details: Array.isArray(body.details) ? body.details : [] };
  const message = `The response has status ${status} and is not one of the service`;
  return { code: 'unexpected_response', message, details: [] };
}
