import type { Socket, Server as TcpServer } from 'node:net';

/** How often a timeout is compared with the clock within its time. */
const CHECKS = 30;

/** What a socket has moved. A change of any number is a byte in one direction. */
export interface Progress {
  readonly since: number;
  readonly read: number;
  readonly written: number;
  /** The bytes that the kernel has not accepted yet. */
  readonly unsent: number;
}

interface Connection {
  readonly socket: Socket;
  /** While data waits to be sent. */
  progress?: Progress | undefined;
  /** Whether the service does not read on, because it works on what has arrived. */
  readonly isWorking?: boolean;
}

/** The part of a socket that Node does not document. `_parent` is the TCP connection below TLS. */
interface Handle {
  readonly writeQueueSize?: number;
  readonly _parent?: Handle;
}

/**
 * Disconnects a client to which nothing could be sent, and which has sent nothing, for this time. The idle timeout of
 * Node applies while nothing waits to be sent. By hand: when a socket times out during a write, Node compares the size
 * of the write with what is left of it, and waits once more if they differ (`_onTimeout` in lib/net.js). With TLS they
 * always differ at first, so a client that does not read is disconnected after twice the timeout. Delete this file when
 * Node disconnects it after one.
 */
export function limitStalledWrites(server: TcpServer, open: Iterable<Connection>, silenceMs: number): void {
  const check = () => endStalled(open, silenceMs, performance.now());
  const timer = setInterval(check, silenceMs / CHECKS).unref();
  server.once('close', () => clearInterval(timer));
}

/** @param now milliseconds of a clock that never goes back */
export function endStalled(open: Iterable<Connection>, silenceMs: number, now: number): void {
  for (const connection of open) {
    const { socket, progress: last, isWorking } = connection;
    const progress = isWorking || socket.writableLength === 0 ? undefined : progressOf(socket, now);
    if (!last || !progress || hasMoved(last, progress)) connection.progress = progress;
    else if (now - last.since >= silenceMs) socket.destroy();
  }
}

function progressOf(socket: Socket, since: number): Progress {
  const { _handle: handle } = socket as unknown as { readonly _handle?: Handle | null };
  const unsent = (handle?._parent ?? handle)?.writeQueueSize ?? 0;
  return { since, read: socket.bytesRead, written: socket.bytesWritten, unsent };
}

function hasMoved(before: Progress, { read, written, unsent }: Progress): boolean {
  return read !== before.read || written !== before.written || unsent !== before.unsent;
}
