import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './free-port.js';

/** `hang` accepts connections and forwards nothing; `cut` closes connections and refuses new ones. */
export type Fault = 'none' | 'hang' | 'cut';

/** A TCP proxy between the service and a store that simulates network failures. */
export class TcpProxy {
  /** The delay in each direction, in milliseconds. */
  delayMs = 0;
  private fault: Fault = 'none';
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;
  /** The same after each cut. */
  port = 0;

  constructor(private readonly target: { readonly host: string; readonly port: number }) {}

  /** Starts to listen. @returns the port */
  async listen(): Promise<number> {
    this.port ||= await freePort();
    const server = createServer({ pauseOnConnect: true }, (socket) => this.join(socket));
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.server = server;
    return this.port;
  }

  async set(fault: Fault): Promise<void> {
    const previous = this.fault;
    this.fault = fault;
    if (fault === 'cut') await this.close();
    else if (previous === 'cut') await this.listen();
    for (const socket of this.sockets) {
      if (fault === 'hang') socket.pause();
      else socket.resume();
    }
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    const { server } = this;
    this.server = undefined;
    if (server) await new Promise((resolve) => server.close(resolve));
  }

  private join(near: Socket): void {
    const far = connect(this.target.port, this.target.host);
    this.pipe(near, far);
    this.pipe(far, near);
    if (this.fault === 'none') near.resume();
    else far.pause();
  }

  private pipe(from: Socket, to: Socket): void {
    this.sockets.add(from);
    // Otherwise the system may keep a short message back for 40 ms.
    from.setNoDelay();
    /** When the last chunk is due: no chunk overtakes an earlier one, also if the delay changes. */
    let dueAt = 0;
    from.on('data', (chunk) => {
      const now = performance.now();
      dueAt = Math.max(dueAt, now + this.delayMs);
      if (dueAt <= now) to.write(chunk);
      else setTimeout(() => to.writable && to.write(chunk), dueAt - now);
    });
    from.on('error', () => {});
    from.on('close', () => {
      this.sockets.delete(from);
      to.destroy();
    });
  }
}
