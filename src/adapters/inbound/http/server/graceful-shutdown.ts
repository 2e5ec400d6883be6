import { type Socket, Server as TcpServer } from 'node:net';

/** A connection without a request gets this long to finish one that may be on its way. */
const SILENT_MS = 500;
const CHECK_MS = 50;

interface Connection {
  /** The number of responses in progress. */
  running: number;
  /** The number of complete responses. */
  responded: number;
}

/**
 * Stops an HTTP or HTTPS server: it finishes running requests, closes idle connections, and closes all after a
 * deadline. By hand: Node's `close` and `closeIdleConnections` can cut a response that is still being sent.
 */
export class Drain {
  private readonly connections = new Map<Socket, Connection>();
  /** TCP connections whose TLS handshake is not complete, by their peer. */
  private readonly handshakes = new Map<string, Socket>();
  private started = false;

  constructor(private readonly server: TcpServer) {
    server.on('connection', (socket: Socket) => this.await(socket));
    server.on('secureConnection', (socket: Socket) => this.open(socket));
    for (const event of ['request', 'checkContinue', 'checkExpectation']) {
      server.prependListener(event, ({ socket }, response) => this.count(socket, response));
    }
  }

  get isDraining(): boolean {
    return this.started;
  }

  /** @returns whether all running requests were finished within `graceMs` */
  async drain(graceMs: number): Promise<boolean> {
    this.started = true;
    const begun = performance.now();
    // Not the close of HTTP servers, which destroys idle connections even if a response is still being sent.
    const closed = new Promise<void>((resolve) => {
      TcpServer.prototype.close.call(this.server, () => resolve());
    });
    let withTimeout = true;
    const checking = setInterval(() => {
      const waited = performance.now() - begun;
      if (waited < graceMs) return this.closeIdle(waited >= Math.min(SILENT_MS, graceMs));
      withTimeout = [...this.connections.values()].every(({ running }) => running === 0);
      for (const socket of [...this.connections.keys(), ...this.handshakes.values()]) socket.destroy();
    }, CHECK_MS);
    this.closeIdle(false);
    await closed;
    clearInterval(checking);
    return withTimeout;
  }

  private await(socket: Socket): void {
    const peer = peerOf(socket);
    this.handshakes.set(peer, socket);
    socket.once('close', () => this.handshakes.delete(peer));
  }

  private open(socket: Socket): Connection {
    this.handshakes.delete(peerOf(socket));
    const connection = { running: 0, responded: 0 };
    this.connections.set(socket, connection);
    socket.once('close', () => this.connections.delete(socket));
    return connection;
  }

  private count(socket: Socket, response: NodeJS.EventEmitter): void {
    const connection = this.connections.get(socket) ?? this.open(socket);
    connection.running++;
    response.once('close', () => {
      connection.running--;
      connection.responded++;
    });
  }

  /**
   * Ends idle connections. The end follows everything that is still to be sent. A request that crosses it is not
   * served.
   * @param silent whether connections that never had a request are idle too
   */
  private closeIdle(silent: boolean): void {
    for (const [socket, { running, responded }] of this.connections) {
      if (running > 0 || (responded === 0 && !silent)) continue;
      if (!socket.writableEnded) socket.end();
      else if (silent && socket.writableFinished) socket.destroy();
    }
    if (silent) for (const socket of this.handshakes.values()) socket.destroy();
  }
}

function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
