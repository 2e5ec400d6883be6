import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './free-port.js';

/** `hang` accepts connections and forwards nothing; `cut` closes connections and refuses new ones. */
export type Fault = 'none' | 'hang' | 'cut';

/** A TCP proxy that simulates network failures. Subclasses decide what passes. */
export class TcpProxy {
  /** The delay in each direction, in milliseconds. */
  delayMs = 0;
  private fault: Fault = 'none';
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;
  /** The same after each cut. */
  port = 0;

  constructor(private readonly target: { readonly host?: string; readonly port: number }) {}

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
    const far = connect(this.target.port, this.target.host ?? '127.0.0.1');
    this.forward(near, far);
    this.follow(near, far);
    this.follow(far, near);
    if (this.fault === 'none') near.resume();
    else far.pause();
  }

  /** Passes on what the two sides of a connection send. */
  protected forward(near: Socket, far: Socket): void {
    this.pipe(near, far);
    this.pipe(far, near);
  }

  private pipe(from: Socket, to: Socket): void {
    /** When the last chunk is due: no chunk overtakes an earlier one, also if the delay changes. */
    let dueAt = 0;
    from.on('data', (chunk) => {
      const now = performance.now();
      dueAt = Math.max(dueAt, now + this.delayMs);
      if (dueAt <= now) to.write(chunk);
      else setTimeout(() => to.writable && to.write(chunk), dueAt - now);
    });
  }

  /** Closes the other side after this one. */
  private follow(from: Socket, to: Socket): void {
    this.sockets.add(from);
    // Otherwise the system may keep a short message back for 40 ms.
    from.setNoDelay();
    from.on('error', () => {});
    from.on('close', () => {
      this.sockets.delete(from);
      // The bytes before a cut arrive.
      if (!to.writableEnded) to.destroy();
    });
  }
}

/** A call to a server on the connection of a client. */
interface Call {
  readonly near: Socket;
  readonly far: Socket;
  readonly message: Buffer;
}

/** What happens in the place of a call or of its reply, by the names of faults. */
export type Faults = Readonly<Record<string, (call: Call, reply: Buffer) => unknown>>;

/** The server does not execute these calls. */
export const BROKEN_CALLS: Faults = {
  unsent: ({ near }) => near.resetAndDestroy(),
  /** The connection is closed in the middle of the call. */
  halved: ({ near, far, message }) => {
    sendHalf(far, message);
    near.destroy();
  },
};

/** A proxy that plays faults at chosen calls. Subclasses know the protocol. */
export class FaultyProxy extends TcpProxy {
  /** How often each fault was played. */
  readonly played: Record<string, number> = {};
  protected readonly brokenReplies: Faults = {
    lost: ({ near }) => near.resetAndDestroy(),
    /** The connection is closed in the middle of the reply. */
    cut: ({ near }, reply) => sendHalf(near, reply),
    late: ({ near }, reply) => setTimeout(() => near.writable && near.write(reply), this.lateMs),
  };

  /**
   * @param port of the server
   * @param lateMs the time after which a late reply is sent, longer than every time-out
   */
  constructor(
    port: number,
    private readonly lateMs = 0,
  ) {
    super({ port });
  }

  protected play(faults: Faults, fault: string, call: Call, reply: Buffer = Buffer.alloc(0)): void {
    const play = faults[fault];
    if (!play) throw new Error(`There is no fault "${fault}".`);
    this.played[fault] = (this.played[fault] ?? 0) + 1;
    play(call, reply);
  }
}

/** Sends half of a message and closes the connection. */
function sendHalf(socket: Socket, message: Buffer): void {
  socket.end(message.subarray(0, message.length / 2), () => socket.destroy());
}

/** Where a connection is cut: when so many more bytes have passed `up` to the server, or `down` to the client. */
export interface Cut {
  readonly direction: 'up' | 'down';
  /** 0: at the next byte, which does not pass. */
  readonly bytes: number;
}

/** Cuts the connection of one client at an exact byte. The next connection works again. */
export class CuttingProxy extends TcpProxy {
  cuts = 0;
  /** The next cut, counted from the bytes that pass now. */
  next: Cut | undefined;

  protected override forward(near: Socket, far: Socket): void {
    near.on('data', (chunk) => this.pass(chunk, 'up', near, far));
    far.on('data', (chunk) => this.pass(chunk, 'down', far, near));
  }

  private pass(chunk: Buffer, direction: Cut['direction'], from: Socket, to: Socket): void {
    const { next } = this;
    if (next?.direction !== direction) to.write(chunk);
    else if (chunk.length <= next.bytes) {
      this.next = { direction, bytes: next.bytes - chunk.length };
      to.write(chunk);
    } else {
      this.next = undefined;
      this.cuts++;
      // The bytes before the cut arrive. What the other side sends from now on is lost.
      from.destroy();
      to.end(chunk.subarray(0, next.bytes), () => to.destroy());
    }
  }
}
