import type { Server, Socket } from 'node:net';

/** A connection that has asked nothing gets so long to finish the request that may be on its way. */
const SILENT_MS = 500;

/** Stops a server, of HTTP or HTTPS: what runs is finished, what is idle is closed, and after a deadline everything. */
export class Drain {
  /** Every open socket and its peer; a TLS connection is two sockets, the TLS one and the TCP one under it. */
  private readonly sockets = new Map<Socket, string>();
  /** How many requests of a peer are being answered. */
  private readonly running = new Map<string, number>();
  private started = false;

  constructor(private readonly server: Server) {
    for (const event of ['connection', 'secureConnection']) {
      server.on(event, (socket: Socket) => this.track(socket));
    }
    for (const event of ['request', 'checkContinue', 'checkExpectation']) {
      server.prependListener(event, ({ socket }, response) => this.count(peerOf(socket), response));
    }
  }

  get isDraining(): boolean {
    return this.started;
  }

  /** @returns whether all that ran was finished within `graceMs` */
  async drain(graceMs: number): Promise<boolean> {
    this.started = true;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    let inTime = true;
    const silent = setTimeout(
      () => this.close((peer) => !this.running.has(peer)),
      Math.min(SILENT_MS, graceMs),
    );
    const deadline = setTimeout(() => {
      inTime = this.running.size === 0;
      this.close(() => true);
    }, graceMs);
    await closed;
    clearTimeout(silent);
    clearTimeout(deadline);
    return inTime;
  }

  private track(socket: Socket): void {
    this.sockets.set(socket, peerOf(socket));
    socket.once('close', () => this.sockets.delete(socket));
  }

  private count(peer: string, response: NodeJS.EventEmitter): void {
    this.running.set(peer, (this.running.get(peer) ?? 0) + 1);
    response.once('close', () => {
      const left = (this.running.get(peer) ?? 1) - 1;
      if (left > 0) this.running.set(peer, left);
      else this.running.delete(peer);
    });
  }

  private close(which: (peer: string) => boolean): void {
    for (const [socket, peer] of this.sockets) {
      if (which(peer)) socket.destroy();
    }
  }
}

function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
