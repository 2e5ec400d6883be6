import { type Socket, Server as TcpServer } from 'node:net';

/**
 * How long an idle connection stays open during a drain. A request may be on its way; its response closes the
 * connection (`Connection: close`), so a busy client never meets a closed one (RFC 9112 section 9.6).
 */
const IDLE_MS = 500;
/** How long a TLS handshake may still take during a drain. */
const HANDSHAKE_MS = 2_000;
const CHECK_MS = 50;

/** The responses of one connection. */
class Connection {
  /** The number of responses in progress. */
  running = 0;
  private idleSince = performance.now();

  readonly onClose = () => {
    this.running--;
    this.idleSince = performance.now();
  };

  /** @returns whether it has been idle for {@link IDLE_MS} of a drain that began at this time */
  isIdle(drainSince: number): boolean {
    return this.running === 0 && performance.now() - Math.max(this.idleSince, drainSince) >= IDLE_MS;
  }
}

/**
 * Stops an HTTP or HTTPS server. Running requests are finished, then idle connections are closed, and after a deadline
 * all connections are closed. By hand: Node's `close` and `closeIdleConnections` can cut a response that is being sent.
 */
export class Drain {
  private readonly connections = new Map<Socket, Connection>();
  /** TCP connections whose TLS handshake is not complete, by their peer. */
  private readonly handshakes = new Map<string, Socket>();
  private isStarted = false;
  private readonly servers: TcpServer[];

  constructor(server: TcpServer) {
    this.servers = [server];
    server.on('connection', (socket: Socket) => this.watchHandshake(socket));
    server.on('secureConnection', (socket: Socket) => this.open(socket));
    for (const event of ['request', 'checkContinue', 'checkExpectation']) {
      server.prependListener(event, ({ socket }, response) => this.count(socket, response));
    }
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
      const waited = performance.now() - startedAt;
      if (waited < graceMs) {
        this.closeIdle(startedAt);
        if (waited >= HANDSHAKE_MS) for (const socket of this.handshakes.values()) socket.destroy();
        return;
      }
      isComplete = [...this.connections.values()].every(({ running }) => running === 0);
      for (const socket of [...this.connections.keys(), ...this.handshakes.values()]) socket.destroy();
    }, CHECK_MS);
    await closed;
    clearInterval(timer);
    return isComplete;
  }

  private watchHandshake(socket: Socket): void {
    const peer = peerOf(socket);
    this.handshakes.set(peer, socket);
    socket.once('close', () => this.handshakes.delete(peer));
  }

  private open(socket: Socket): Connection {
    this.handshakes.delete(peerOf(socket));
    const connection = new Connection();
    this.connections.set(socket, connection);
    socket.once('close', () => this.connections.delete(socket));
    return connection;
  }

  private count(socket: Socket, response: NodeJS.EventEmitter): void {
    const connection = this.connections.get(socket) ?? this.open(socket);
    connection.running++;
    response.on('close', connection.onClose);
  }

  /** Ends idle connections after everything that is still to be sent. A request that arrives later is not served. */
  private closeIdle(drainSince: number): void {
    for (const [socket, connection] of this.connections) {
      if (!connection.isIdle(drainSince)) continue;
      if (!socket.writableEnded) socket.end();
      else if (socket.writableFinished) socket.destroy();
    }
  }
}

function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
