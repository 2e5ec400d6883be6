import { Server as TcpServer } from 'node:net';
import { type Connection, connectionsOf } from './connection.js';

/**
 * How long an idle connection stays open during a drain. A request may be on its way; its response closes the
 * connection (`Connection: close`), so a busy client never meets a closed one (RFC 9112 section 9.6).
 */
const IDLE_MS = 500;
/** How long a TLS handshake may still take during a drain. */
const HANDSHAKE_MS = 2_000;
const CHECK_MS = 50;

/**
 * Stops an HTTP or HTTPS server. Running requests are finished, then idle connections are closed, and after a deadline
 * all connections are closed. By hand: Node's `close` and `closeIdleConnections` can cut a response that is being sent.
 */
export class Drain {
  private isStarted = false;
  private readonly servers: TcpServer[];

  constructor(private readonly server: TcpServer) {
    this.servers = [server];
  }

  /** @param other passes its connections to the server */
  add(other: TcpServer): void {
    this.servers.push(other);
  }

  get isDraining(): boolean {
    return this.isStarted;
  }

  /** @returns whether all running requests were finished within `graceMs` */
  async drain(graceMs: number): Promise<boolean> {
    this.isStarted = true;
    const connections = connectionsOf(this.server);
    const startedAt = performance.now();
    // Not `close` of the HTTP server, which destroys connections on which a response is still being sent.
    const closed = Promise.all(
      this.servers.map(
        (server) =>
          new Promise<void>((resolve) => {
            TcpServer.prototype.close.call(server, () => resolve());
          }),
      ),
    );
    let isComplete = true;
    const timer = setInterval(() => {
      const now = performance.now();
      for (const connection of connections) {
        if (now - startedAt >= graceMs) {
          isComplete &&= connection.pipeline.idleSinceMs !== undefined;
          connection.socket.destroy();
        } else if (connection.isEstablished) closeIdle(connection, startedAt, now);
        else if (now - startedAt >= HANDSHAKE_MS) connection.socket.destroy();
      }
    }, CHECK_MS);
    await closed;
    clearInterval(timer);
    return isComplete;
  }
}

/** Ends an idle connection after everything that is still to be sent. A request that arrives later is not served. */
function closeIdle({ socket, pipeline }: Connection, drainSince: number, now: number): void {
  const { idleSinceMs = now } = pipeline;
  if (now - Math.max(idleSinceMs, drainSince) < IDLE_MS) return;
  if (!socket.writableEnded) socket.end();
  else if (socket.writableFinished) socket.destroy();
}
