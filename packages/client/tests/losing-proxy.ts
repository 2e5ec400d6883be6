import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Forwards bytes, and closes the connection instead of forwarding a response that it should lose. */
export class LosingProxy {
  /** The number of the next responses to lose. */
  toLose = 0;
  /** Whether a lost response is forwarded without its last bytes. */
  breaksOff = false;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  constructor(private readonly target: () => number) {
    this.server = createServer((near) => this.join(near));
  }

  async listen(): Promise<number> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }

  private join(near: Socket): void {
    const far = connect(this.target(), '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
    }
    near.on('data', (bytes) => far.write(bytes));
    far.on('data', (bytes) => this.forwardResponse(near, bytes));
  }

  private forwardResponse(near: Socket, bytes: Buffer): void {
    if (this.toLose === 0) {
      near.write(bytes);
      return;
    }
    this.toLose--;
    near.end(bytes.subarray(0, this.breaksOff ? -5 : 0));
  }
}
