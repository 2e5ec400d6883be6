import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, type StandaloneConnectionOptions } from 'ioredis';
import { ReplyGuard } from './reply-guard.js';

/** Connects as ioredis does, to one server, and cuts the connection at the first byte that the guard refuses. */
export class GuardedConnector extends AbstractConnector {
  private readonly options: StandaloneConnectionOptions;

  /** @param options those of the client */
  constructor(options: unknown) {
    super(0);
    this.options = options as StandaloneConnectionOptions;
  }

  async connect(): Promise<Socket> {
    const { host = 'localhost', port = 6379, family, path, tls } = this.options;
    const server = path ? { path } : { host, port, ...(family !== undefined && { family }) };
    const socket = tls ? connectTls({ ...server, ...tls }) : connectTcp(server);
    socket.once('error', (error) => {
      this.firstError = error;
    });
    guardReplies(socket);
    this.stream = socket;
    return socket;
  }

  /** At once: whoever is left, after a reply that cannot be, may go on sending. */
  override disconnect(): void {
    this.stream?.destroy();
  }
}

/** Nothing reaches a listener before it was looked at, not even what arrives with the end of the handshake. */
function guardReplies(socket: Socket): void {
  const guard = new ReplyGuard();
  const push = socket.push.bind(socket);
  socket.push = (chunk: Buffer | null) => {
    try {
      if (chunk) guard.check(chunk);
    } catch (error) {
      socket.destroy(error as Error);
      return false;
    }
    return push(chunk);
  };
}
