import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { turnInLine } from '../../../../application/turns.js';
import { networkOf, parseAddress } from './client-address.js';
import { resumeReading } from './resumed-reading.js';

/** A read of 64 KiB brings four chunks of 16 KiB, or ten thousand of one byte, which take some 10 ms. */
const MANY_CHUNKS = 256;

/** Connections that are not read until their turn comes. */
const resting = new WeakSet<Socket>();

/**
 * Gives on the chunks of a request (RFC 9112 section 7.1) in as many pieces as the socket is read, and not one by one: each
 * piece costs some 300 bytes and several calls, however small it is. A connection that brings many chunks at once then waits
 * for its turn, clients in rotation.
 */
export function gatherChunks(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers['transfer-encoding'] === undefined) return;
  // Node's parser hands over each chunk by `push`.
  const push = request.push.bind(request);
  let chunks: Buffer[] = [];
  const give = () => {
    const given = chunks;
    if (given.length === 0) return;
    chunks = [];
    push(given.length === 1 ? given[0] : Buffer.concat(given));
    if (given.length > MANY_CHUNKS) rest(request.socket);
  };
  request.push = (chunk: Buffer | null) => {
    if (chunk === null) {
      give();
      return push(null);
    }
    // What one read brings is parsed in one go; microtasks come after it.
    if (chunks.push(chunk) === 1) queueMicrotask(give);
    return request.readableLength < request.readableHighWaterMark;
  };
  // What nobody reads is read and dropped here, or Node would drop it chunk by chunk.
  response.prependOnceListener('finish', () => {
    if (request.readableEnded) return;
    request.read(0);
    request.resume();
  });
}

function rest(socket: Socket): void {
  if (resting.has(socket)) return;
  resting.add(socket);
  socket.pause();
  // Node resumes a socket whenever a body is read.
  const pauseAgain = () => socket.pause();
  socket.on('resume', pauseAgain);
  void turnInLine(networkOf(parseAddress(socket.remoteAddress))).then(() => {
    resting.delete(socket);
    socket.off('resume', pauseAgain);
    resumeReading(socket);
  });
}
