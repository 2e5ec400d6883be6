import { createServer, type Server, type Socket } from 'node:net';
import { listen } from '#src/process/listen.js';

/**
 * The reply to a command. `undefined` stands for the reply of a real Redis. The pieces of a generator are written as
 * fast as the client reads them.
 */
export type Reply = string | Buffer | undefined | (() => Generator<string | Buffer>);

const HELLO = '%3\r\n$6\r\nserver\r\n$5\r\nredis\r\n$5\r\nproto\r\n:3\r\n$7\r\nmodules\r\n*0\r\n';

/** A Redis in this process with the commands of a rate limiter. A test can replace its replies. */
export class FakeRedis {
  /** Called for each command with its name in lower case and its connection. */
  override: (name: string, connection: Socket) => Reply = () => undefined;
  connections = 0;
  /** The names of the received commands, in lower case. */
  readonly received = new Set<string>();
  /** The bytes written to closed connections, including those in buffers of the kernel. */
  bytesWritten = 0;
  private readonly counts = new Map<string, number>();
  private readonly sockets = new Set<Socket>();
  private readonly server: Server = createServer((socket) => this.serve(socket));

  port = 0;

  async listen(): Promise<void> {
    this.port = await listen(this.server, '127.0.0.1', 0);
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get open(): number {
    return this.sockets.size;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Writes an unsolicited reply to every connection. */
  push(reply: Reply): void {
    for (const socket of this.sockets) this.write(socket, reply);
  }

  private serve(socket: Socket): void {
    this.connections++;
    this.sockets.add(socket);
    let text = '';
    socket.setNoDelay();
    socket.on('error', () => {});
    socket.on('close', () => {
      this.sockets.delete(socket);
      this.bytesWritten += socket.bytesWritten - socket.writableLength;
    });
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (let next = commandOf(text); next; next = commandOf(text)) {
        text = text.slice(next.length);
        const [word = '', ...args] = next.words;
        const name = word.toLowerCase();
        this.received.add(name);
        this.write(socket, this.override(name, socket) ?? this.honest(name, args));
      }
    });
  }

  private write(socket: Socket, reply: Reply): void {
    if (typeof reply !== 'function') return void (reply !== undefined && socket.write(reply));
    const pieces = reply();
    const writeOn = () => {
      while (!socket.destroyed) {
        const { value, done } = pieces.next();
        if (done) return;
        if (!socket.write(value)) return void socket.once('drain', writeOn);
      }
    };
    writeOn();
  }

  private honest(name: string, args: string[]): string {
    if (name === 'hello') return HELLO;
    if (name === 'ping') return '+PONG\r\n';
    if (name === 'evalsha' || name === 'eval') return this.count(args[2] ?? '', Number(args[3]));
    if (name === 'get' || name === 'pttl') return '+QUEUED\r\n';
    if (name === 'exec') return '*2\r\n$-1\r\n:-2\r\n';
    return '+OK\r\n';
  }

  private count(key: string, points: number): string {
    const count = (this.counts.get(key) ?? 0) + points;
    this.counts.set(key, count);
    return `*2\r\n:${count}\r\n:60000\r\n`;
  }
}

/** Returns the first command in a text and its length, or undefined if the command is incomplete. */
function commandOf(text: string): { words: string[]; length: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text);
  if (!head) return undefined;
  const words: string[] = [];
  let offset = head[0].length;
  for (let left = Number(head[1]); left > 0; left--) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(offset, offset + 20));
    if (!size) return undefined;
    const start = offset + size[0].length;
    offset = start + Number(size[1]) + 2;
    if (text.length < offset) return undefined;
    words.push(text.slice(start, offset - 2));
  }
  return { words, length: offset };
}
