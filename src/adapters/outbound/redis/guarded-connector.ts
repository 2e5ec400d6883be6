import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, type StandaloneConnectionOptions } from 'ioredis';
import { ReplyGuard } from './reply-guard.js';

/** Connects to one server, as the connector of ioredis does. Closes the connection when the guard refuses what it received. */
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

  /** Closes the connection at once: a server that sent an impossible reply may go on sending. */
  override disconnect(): void {
    this.stream?.destroy();
  }
}

/** The guard checks data before any listener gets it, also data that arrives with the end of a TLS handshake. */
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
