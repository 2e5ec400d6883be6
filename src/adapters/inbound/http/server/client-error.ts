import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { SERVED_METHODS } from '../../../../application/ports/observer.js';
import { errorResponse, HttpError } from '../core/http-error.js';
import { type Connection, connectionOf } from './connection.js';

export type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

/** A request line with a method that the parser does not know (RFC 9112 section 3). */
const REQUEST_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ \S+ HTTP\/1\.[01]\r?\n/;
const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';

type Headers = Readonly<Record<string, string>>;

/**
 * Responds to a message that never became a request. `refusePlainHttp` responds to plain HTTP on the TLS port.
 * @param baseHeaders the headers of every response
 */
export function respondToClientError(error: ParserError, socket: Socket, baseHeaders: Headers): void {
  const connection = connectionOf(socket);
  // The client would read a second response to this request as the one to its next.
  if (connection.pipeline.hasUnreadBody) connection.lingeringClose();
  else refuse(refusalOf(error), socket, baseHeaders);
}

/** Whether an error is Node's timeout of a request. */
export function isRequestTimeout({ code }: ParserError): boolean {
  return code === REQUEST_TIMEOUT;
}

/** A request timeout in the form in which Node reports it. */
export function requestTimeout(): ParserError {
  return Object.assign(new Error('The request took too long to arrive.'), { code: REQUEST_TIMEOUT });
}

/**
 * Responds to CONNECT, for which Node passes a socket instead of a request, after the pending responses. Node removes
 * its listeners from that socket (`onParserExecuteCommon` in lib/_http_server.js), also those that the pending
 * responses need: they must go on when the connection has drained, and end when it is silent or the client is gone.
 * Bytes for the tunnel are dropped.
 */
export function refuseTunnel(socket: Socket, baseHeaders: Headers): void {
  const { responses } = connectionOf(socket).pipeline;
  socket
    .on('drain', () => responses.find(({ writableNeedDrain }) => writableNeedDrain)?.emit('drain'))
    .on('timeout', () => socket.destroy())
    .on('end', () => socket.end())
    // Without a listener, a client that resets the connection would end the process.
    .on('error', () => socket.destroy())
    .on('close', () => {
      for (const { req } of responses) req.destroy();
    })
    .resume();
  refuse(unknownMethod(), socket, baseHeaders);
}

/**
 * Sends the error and closes the connection. The error is not sent if another response is pending or has begun, because
 * the peer would read it as that response or as a part of it; nor if the request may have changed something, because an
 * error says that it has not.
 */
function refuse(refusal: HttpError | undefined, socket: Socket, baseHeaders: Headers): void {
  const connection = connectionOf(socket);
  if (connection.isRefused) return;
  connection.isRefused = true;
  const { responses } = connection.pipeline;
  const last = responses.findLast(({ req }) => req.complete);
  if (!refusal || !socket.writable) socket.destroy();
  else if (last) last.once('finish', () => connection.lingeringClose());
  else if (responses.some(({ req, headersSent }) => headersSent || mayHaveWritten(req))) socket.destroy();
  else sendResponse(refusal, connection, baseHeaders);
}

/** Whether an incomplete request may have changed records: an import may, and a DELETE needs no body. */
function mayHaveWritten(request: IncomingMessage): boolean {
  const { handled, deadline } = connectionOf(request.socket);
  return handled === request && (request.method === 'DELETE' || deadline.isLiftedFor(request));
}

function sendResponse(refusal: HttpError, connection: Connection, baseHeaders: Headers): void {
  const { status, headers, body } = errorResponse(refusal);
  const lines = Object.entries({
    ...baseHeaders,
    ...headers,
    ...(refusal.code === 'method_not_allowed' && { Allow: SERVED_METHODS.join(', ') }),
    'API-Version': '1',
    'X-Request-Id': randomUUID(),
    'Content-Length': String(Buffer.byteLength(body)),
    Date: new Date().toUTCString(),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  connection.socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  connection.lingeringClose();
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
      // Also the error of an import that ends its connection comes here. The code of a store's error may be a number.
      return String(error.code).startsWith('HPE_') ? notHttp() : undefined;
  }
}

function unknownMethod(): HttpError {
  return new HttpError('method_not_allowed', 'No path of this service supports this method.');
}

function notHttp(): HttpError {
  return new HttpError('invalid_parameter', 'The message is not valid HTTP/1.1 (RFC 9112).');
}
