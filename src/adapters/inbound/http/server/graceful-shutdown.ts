import { type Socket, Server as TcpServer } from 'node:net';

/** A connection that has asked nothing gets so long to finish the request that may be on its way. */
const SILENT_MS = 500;
const CHECK_MS = 50;

interface Connection {
  /** How many requests are being answered on it. */
  running: number;
  /** How many were answered. */
  answered: number;
}

/** Stops an HTTP or HTTPS server: what runs is finished, what is idle is closed, and after a deadline everything. */
export class Drain {
  private readonly connections = new Map<Socket, Connection>();
  /** TCP connections on which TLS is not spoken yet, by their peer. */
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

  /** @returns whether all that ran was finished within `graceMs` */
  async drain(graceMs: number): Promise<boolean> {
    this.started = true;
    const begun = performance.now();
    // Not the close of HTTP servers: that destroys what is idle, with an answer perhaps still on its way out.
    const closed = new Promise<void>((resolve) => {
      TcpServer.prototype.close.call(this.server, () => resolve());
    });
    let inTime = true;
    const checking = setInterval(() => {
      const waited = performance.now() - begun;
      if (waited < graceMs) return this.closeIdle(waited >= Math.min(SILENT_MS, graceMs));
      inTime = [...this.connections.values()].every(({ running }) => running === 0);
      for (const socket of [...this.connections.keys(), ...this.handshakes.values()]) socket.destroy();
    }, CHECK_MS);
    this.closeIdle(false);
    await closed;
    clearInterval(checking);
    return inTime;
  }

  private await(socket: Socket): void {
    const peer = peerOf(socket);
    this.handshakes.set(peer, socket);
    socket.once('close', () => this.handshakes.delete(peer));
  }

  private open(socket: Socket): Connection {
    this.handshakes.delete(peerOf(socket));
    const connection = { running: 0, answered: 0 };
    this.connections.set(socket, connection);
    socket.once('close', () => this.connections.delete(socket));
    return connection;
  }

  private count(socket: Socket, response: NodeJS.EventEmitter): void {
    const connection = this.connections.get(socket) ?? this.open(socket);
    connection.running++;
    response.once('close', () => {
      connection.running--;
      connection.answered++;
    });
  }

  /**
   * Ends what is idle. The end comes behind whatever is still to be sent; a request that crosses it is not served.
   * @param silent whether connections that never asked anything are idle too
   */
  private closeIdle(silent: boolean): void {
    for (const [socket, { running, answered }] of this.connections) {
      if (running > 0 || (answered === 0 && !silent)) continue;
      if (!socket.writableEnded) socket.end();
      else if (silent && socket.writableFinished) socket.destroy();
    }
    if (silent) for (const socket of this.handshakes.values()) socket.destroy();
  }
}

function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
