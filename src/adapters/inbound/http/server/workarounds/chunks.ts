import type { IncomingMessage, ServerResponse } from 'node:http';
import { Turn } from '../../../../../shared/turn.js';
import { type Connection, connectionOf } from '../connection.js';

/** A read of 64 KiB contains four chunks of 16 KiB, or ten thousand of one byte, which take about 10 ms. */
const MANY_CHUNKS = 256;

/** Whether the body has chunks, so that the parser can still find an error behind the headers. */
export function isChunked({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined;
}

/**
 * Joins the chunks of one read of the socket. If one read has many chunks, the connection then waits for its turn among
 * all clients. By hand: Node passes on each chunk of a body (RFC 9112 section 7.1) separately. Even the smallest one
 * costs about 300 bytes and several calls. Delete this file when Node joins the chunks of one read.
 */
export function coalesceChunks(request: IncomingMessage, response: ServerResponse): void {
  if (!isChunked(request)) return;
  const connection = connectionOf(request.socket);
  // Node's parser passes on each chunk by `push`.
  const push = request.push.bind(request);
  let chunks: Buffer[] = [];
  const flush = () => {
    const joined = chunks;
    if (joined.length === 0) return;
    chunks = [];
    push(joined.length === 1 ? joined[0] : Buffer.concat(joined));
    if (joined.length > MANY_CHUNKS) void pauseUntilTurn(connection);
  };
  request.push = (chunk: Buffer | null) => {
    if (chunk === null) {
      flush();
      return push(null);
    }
    // Microtasks run after the parser has handled the whole read.
    if (chunks.push(chunk) === 1) queueMicrotask(flush);
    return request.readableLength < request.readableHighWaterMark;
  };
  // Drops a body that nobody reads. Otherwise Node would drop it chunk by chunk.
  response.prependOnceListener('finish', () => {
    if (request.readableEnded) return;
    request.read(0);
    request.resume();
  });
}

async function pauseUntilTurn(connection: Connection): Promise<void> {
  if (connection.waitsForTurn) return;
  connection.waitsForTurn = true;
  connection.pause();
  await new Turn(connection.peer.network).next();
  connection.waitsForTurn = false;
  connection.resume();
}
