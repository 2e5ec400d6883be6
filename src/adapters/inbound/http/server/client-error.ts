import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { errorResponse } from '../response/error-response.js';
import { HttpError } from '../response/http-error.js';

export type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

/** RFC 9112 section 3: a request line with a method that the parser does not know. */
const REQUEST_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ \S+ HTTP\/1\.[01]\r?\n/;
const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/**
 * A connection that is closed while its peer still sends is reset, and the peer never reads the response. So the
 * input is read and dropped for this long (RFC 9112 section 9.6).
 */
const LINGER_MS = 1_000;
const responded = new WeakSet<Socket>();

type Headers = Readonly<Record<string, string>>;

/**
 * Responds to a message that never became a request. `refusePlainHttp` responds to plain HTTP on the TLS port.
 * @param running the responses in progress on this connection, oldest first
 * @param always the headers of every response
 */
export function respondToClientError(
  error: ParserError,
  socket: Socket,
  running: readonly ServerResponse[],
  always: Headers,
): void {
  refuse(refusalOf(error), socket, running, always);
}

/** The error as Node reports it. */
export function requestTimeout(): ParserError {
  return Object.assign(new Error('The request took too long to arrive.'), { code: REQUEST_TIMEOUT });
}

/** CONNECT asks for a tunnel, which Node hands over as a bare socket. */
export function refuseTunnel(socket: Socket, running: readonly ServerResponse[], always: Headers): void {
  refuse(unknownMethod(), socket, running, always);
}

/**
 * Closes the connection. A peer that still awaits another response, or already gets one to this message, gets none:
 * it would take this one for that, or for a part of it.
 */
function refuse(
  refusal: HttpError | undefined,
  socket: Socket,
  running: readonly ServerResponse[],
  always: Headers,
): void {
  if (responded.has(socket)) return;
  responded.add(socket);
  const last = running.findLast(({ req }) => req.complete);
  if (!refusal || !socket.writable) socket.destroy();
  else if (last) last.once('finish', () => socket.destroy());
  else if (running.some(({ headersSent }) => headersSent)) socket.destroy();
  else response(refusal, socket, always);
}

function response(refusal: HttpError, socket: Socket, always: Headers): void {
  const { status, headers, body } = errorResponse(refusal);
  const lines = Object.entries({
    ...always,
    ...headers,
    ...(refusal.code === 'method_not_allowed' && { Allow: METHODS }),
    'API-Version': '1',
    'X-Request-Id': randomUUID(),
    'Content-Length': String(Buffer.byteLength(body)),
    Date: new Date().toUTCString(),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

function refusalOf(error: ParserError): HttpError | undefined {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new HttpError('headers_too_large', 'The address and the headers are too large.');
    case REQUEST_TIMEOUT:
      return new HttpError('request_timeout', 'The request took too long to arrive.');
    case 'HPE_INVALID_METHOD':
      return REQUEST_LINE.test(error.rawPacket?.toString('latin1') ?? '') ? unknownMethod() : notHttp();
    default:
      return error.code?.startsWith('HPE_') ? notHttp() : undefined;
  }
}

function unknownMethod(): HttpError {
  return new HttpError('method_not_allowed', 'No address of this service knows this method.');
}

function notHttp(): HttpError {
  return new HttpError('invalid_parameter', 'The message is not HTTP/1.1 as RFC 9112 has it.');
}
