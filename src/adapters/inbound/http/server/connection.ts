import type { Server as HttpServer, IncomingMessage, RequestListener } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket, Server as TcpServer } from 'node:net';
import { networkOf, parseAddress } from './ip-address.js';
import { type Peer, Pipeline } from './pipelining.js';
import { Deadline } from './workarounds/deadline.js';
import type { Progress } from './workarounds/stalled-writes.js';

/** How long the input is read and dropped after the kernel has taken the last byte to the client. */
const LINGER_MS = 1_000;

export interface ConnectionOptions {
  /** Called for each request in its turn. */
  readonly handle: RequestListener;
  /** See {@link Connection.closeInStages}. */
  readonly lingerMs?: number | undefined;
}

const CONNECTION = Symbol('connection');
const CONNECTIONS = Symbol('connections');

/** `_parent` is the TCP connection below TLS. Node does not document it. */
type KnownSocket = Socket & { [CONNECTION]?: Connection; readonly _parent?: Socket | null };
type KnownServer = TcpServer & { [CONNECTIONS]?: Set<Connection> };

/** What the server knows of a TCP connection and of the TLS connection on it, if there is one. */
export class Connection {
  /** Carries the requests: the TLS connection as soon as its handshake is complete, else the TCP connection. */
  socket: Socket;
  readonly pipeline: Pipeline;
  readonly deadline = new Deadline();
  /** How far the data that waits to be sent has come. */
  progress: Progress | undefined;
  /** The last request that was handed to the application. */
  handled: IncomingMessage | undefined;
  /** Whether a request has arrived. */
  isUsed = false;
  /** Whether the service works for a request that is still arriving. Nobody needs to send a byte meanwhile. */
  isWorking = false;
  /** Whether it ends because of a message that never became a request. */
  isRefused = false;
  /** Whether it is paused until its turn among all clients comes. */
  waitsForTurn = false;
  private pauses = 0;
  private isClosing = false;
  private isReset = false;

  constructor(
    readonly tcp: Socket,
    readonly peer: Peer,
    private readonly options: ConnectionOptions,
  ) {
    this.socket = tcp;
    this.pipeline = new Pipeline(this, options.handle);
  }

  /** Whether requests may arrive: TLS is ready, or the first request has arrived without TLS. */
  get isEstablished(): boolean {
    return this.isUsed || this.socket !== this.tcp;
  }

  /** Prepares the socket that carries the requests, immediately after Node has given it a parser. */
  open(socket: Socket): void {
    this.socket = socket;
    // Makes Node's parser read through the stream, so that a pause also stops data that TLS has already decrypted.
    // Later, a request behind a large response could stay unread, because the stream believes that it reads already.
    socket.on('data', () => {});
    // Node calls it after the last response.
    socket.destroySoon = () => this.closeInStages();
    const destroy = socket.destroy.bind(socket);
    socket.destroy = (...args) => {
      if (isClosingIdle && !this.isUsed) return socket;
      this.resetIfIncomplete();
      // At once: `resetAndDestroy` alone would first send what waits, which a client that does not read prevents.
      return destroy(...args);
    };
    socket.once('close', () => this.pipeline.abandon());
  }

  // Pausing: Node pauses a socket and its parser while the socket cannot send more. A paused parser accepts no bytes and
  // reports HPE_PAUSED (nodejs/node#3332). Delete this part when a documented function can pause a connection.

  /** Stops reading until each call has its {@link resume}. */
  pause(): void {
    if (this.pauses++ === 0) this.socket.on('resume', this.pauseAgain);
    this.socket.pause();
  }

  /** Reads on: immediately, or when the socket has drained if Node paused it too. */
  resume(): void {
    if (--this.pauses > 0) return;
    const { socket } = this;
    socket.off('resume', this.pauseAgain);
    if (socket.writableNeedDrain) socket.once('drain', () => socket.resume());
    else socket.resume();
  }

  /** Node resumes a socket after each message and whenever a body is read. */
  private readonly pauseAgain = () => this.socket.pause();

  // Closing: after a response with `Connection: close`, Node closes the connection although the client may still send,
  // such as the rest of a body or another request. That resets the connection, and the client can lose the response
  // (RFC 9112 section 9.6). Delete this part when Node reads on until the client has closed its side.

  /**
   * Ends the connection after what is still to be sent, and drops what the client still sends. It is closed when the
   * client closes its side, or `lingerMs` after the kernel has taken the last byte.
   */
  closeInStages(): void {
    if (this.isClosing) return;
    this.isClosing = true;
    const { socket } = this;
    // Node's parser does not read what follows.
    socket.removeAllListeners('data').resume();
    socket.end();
    const close = () => {
      const timer = setTimeout(() => socket.destroy(), this.options.lingerMs ?? LINGER_MS).unref();
      socket.once('close', () => clearTimeout(timer));
    };
    if (socket.writableFinished) close();
    else socket.once('finish', close);
  }

  // Broken responses: Node closes the connection of a response that it destroys in order (FIN). Where only the end of
  // the connection tells the length of a body, as in HTTP/1.0 (RFC 9112 section 6.3, the last rule), the client then
  // takes it for complete. Delete this part when Node resets the connection.

  /** Resets a connection (RST, RFC 9293 section 3.5.2), without the `close_notify` of TLS, on which a response is sent. */
  private resetIfIncomplete(): void {
    // A connection without a peer is closed already.
    if (this.isReset || this.tcp.remoteAddress === undefined || !this.pipeline.isSending) return;
    this.isReset = true;
    this.tcp.resetAndDestroy();
  }
}

/** Finds the connection of a TCP socket, or of the TLS socket on it. The server must {@link acceptConnections}. */
export function connectionOf(socket: Socket): Connection {
  const { [CONNECTION]: connection, _parent: tcp } = socket as KnownSocket;
  return (connection ?? (tcp as KnownSocket)[CONNECTION]) as Connection;
}

/** The open connections of a server, also those in a TLS handshake. */
export function connectionsOf(server: TcpServer): ReadonlySet<Connection> {
  return (server as KnownServer)[CONNECTIONS] as ReadonlySet<Connection>;
}

/**
 * Makes a {@link Connection} of each new socket of a server. Call it before other listeners of the server.
 * @param ready the event of a socket that is ready for requests
 */
export function acceptConnections(
  server: TcpServer,
  ready: 'connection' | 'secureConnection',
  options: ConnectionOptions,
): void {
  const open = new Set<Connection>();
  const peers = new Map<string, Peer>();
  (server as KnownServer)[CONNECTIONS] = open;
  server.on('connection', (tcp: KnownSocket) => {
    const network = networkOf(parseAddress(tcp.remoteAddress));
    const peer = peers.get(network) ?? { network, connections: 0, waiting: 0 };
    peers.set(network, peer);
    peer.connections++;
    const connection = new Connection(tcp, peer, options);
    tcp[CONNECTION] = connection;
    open.add(connection);
    tcp.once('close', () => {
      open.delete(connection);
      if (--peer.connections === 0) peers.delete(network);
    });
  });
  server.on(ready, (socket: KnownSocket) => {
    const connection = connectionOf(socket);
    socket[CONNECTION] = connection;
    connection.open(socket);
  });
}

// Idle connections: from Node 26.4 on, `closeIdleConnections` also closes connections whose first request is still on its
// way, also the one that is being accepted (nodejs/node#63470). Delete this part when Node can tell them apart.

let isClosingIdle = false;

/** Closes the connections that wait for a further request, but not for their first one. */
export function closeIdleConnections(server: HttpServer | HttpsServer): void {
  isClosingIdle = true;
  server.closeIdleConnections();
  isClosingIdle = false;
}
