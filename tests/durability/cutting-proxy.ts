import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Where a connection is cut: when so many more bytes have passed `up` to the server, or `down` to the client. */
export interface Cut {
  readonly direction: 'up' | 'down';
  /** 0: at the next byte, which does not pass. */
  readonly bytes: number;
}

/** A TCP proxy that cuts the connection of one client at an exact byte. The next connection works again. */
export class CuttingProxy {
  cuts = 0;
  private next: Cut | undefined;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  private constructor(target: number) {
    this.server = createServer((near) => this.join(near, connect(target, '127.0.0.1')));
  }

  static async before(target: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target);
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Cuts once, counted from the bytes that pass now. Undefined: no more cut. */
  plan(cut: Cut | undefined): void {
    this.next = cut;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(near: Socket, far: Socket): void {
    this.pipe(near, far, 'up');
    this.pipe(far, near, 'down');
  }

  private pipe(from: Socket, to: Socket, direction: Cut['direction']): void {
    this.sockets.add(from);
    from.on('data', (chunk: Buffer) => {
      const cut = this.next;
      if (cut?.direction !== direction) to.write(chunk);
      else if (chunk.length <= cut.bytes) {
        this.next = { direction, bytes: cut.bytes - chunk.length };
        to.write(chunk);
      } else {
        this.next = undefined;
        this.cuts++;
        // The bytes before the cut arrive. What the other side sends from now on is lost.
        from.destroy();
        to.end(chunk.subarray(0, cut.bytes), () => to.destroy());
      }
    });
    from.on('error', () => {});
    from.on('close', () => {
      this.sockets.delete(from);
      if (!to.writableEnded) to.destroy();
    });
  }
}
