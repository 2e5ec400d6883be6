import type { Server as HttpServer, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket, Server as TcpServer } from 'node:net';
import { Task } from '../../../../shared/task-scheduler.js';
import { networkOf, parseAddress } from './ip-address.js';

/** How long the input is read and dropped after the kernel has taken the last byte to the client. */
const LINGER_MS = 1_000;

export interface ConnectionOptions {
  /** Called for each request in its turn. */
  readonly handle: RequestListener;
  /** See {@link Connection.lingeringClose}. */
  readonly lingerMs?: number | undefined;
}

const CONNECTION = Symbol('connection');
const CONNECTIONS = Symbol('connections');

/** `_parent` is the TCP connection below TLS. Node does not document it. */
type KnownSocket = Socket & { [CONNECTION]?: Connection; readonly _parent?: Socket | null };
type KnownServer = TcpServer & { [CONNECTIONS]?: Set<Connection> };

/**
 * The deadline of the request that arrives on a connection, if it differs from Node's. By hand: `server.requestTimeout`
 * applies to all requests and cannot be changed for one request (nodejs/node#46574, nodejs/help#4120). Delete this class
 * when a request can have its own timeout.
 */
class Deadline {
  /** The last request whose deadline is not Node's. Only the last request of a connection can be incomplete. */
  private request: IncomingMessage | undefined;
  private isPostponed = false;
  private timer: NodeJS.Timeout | undefined;

  /** Whether Node's timeout has no meaning for the request that arrives. Node reports it once per request. */
  get replacesNodes(): boolean {
    return this.request?.complete === false;
  }

  /** Removes the deadline of a request. The timeout of idle connections still applies. */
  lift(request: IncomingMessage): void {
    clearTimeout(this.timer);
    this.replace(request, false);
  }

  /** Whether a request has no deadline. */
  isLiftedFor(request: IncomingMessage): boolean {
    return this.request === request && !this.isPostponed;
  }

  /** Makes the deadline of a request count from {@link startFor} instead of from its first byte. */
  postpone(request: IncomingMessage): void {
    this.replace(request, true);
  }

  /**
   * Starts a postponed deadline. Does nothing for other requests.
   * @param expire called if the request is not complete after this many milliseconds
   */
  startFor(request: IncomingMessage, ms: number, expire: () => void): void {
    if (this.request !== request || !this.isPostponed || request.complete) return;
    const timer = setTimeout(() => {
      if (!request.complete) expire();
    }, ms);
    this.timer = timer.unref();
    request.once('close', () => clearTimeout(timer));
  }

  private replace(request: IncomingMessage, isPostponed: boolean): void {
    if (request.complete) return;
    this.request = request;
    this.isPostponed = isPostponed;
  }
}

/** The connection is paused while this many of its requests wait. */
const READ_AHEAD = 2;

/**
 * The limit of waiting requests per connection. Pausing alone is not enough, because one read of 64 KiB contains 590
 * requests with a token, or 2,500 of the shortest. Each waiting request costs about 2.5 KB.
 */
export const MAX_WAITING = 1_000;

/** The limit of waiting requests per IP address: 5 MB of the shortest requests. */
const MAX_WAITING_PER_ADDRESS = 2_000;

/** A request with more headers may not wait. Each header costs about 100 bytes, and no client needs half as many. */
const MAX_HEADERS = 200;

type Exchange = readonly [request: IncomingMessage, response: ServerResponse];

/** The connections of one IPv4 address, or of the /64 of an IPv6 address, to one server. */
export interface Peer {
  readonly network: string;
  connections: number;
  waiting: number;
}

/**
 * Handles the pipelined requests of a connection one after the other (RFC 9112 section 9.3.2). Each one starts when the
 * previous response has been passed to the socket. Node starts them all at once (nodejs/node#50850); delete this class
 * when it no longer does. A request whose connection ends before its turn is never handled. A connection is closed if
 * {@link MAX_WAITING} of its requests, or {@link MAX_WAITING_PER_ADDRESS} of its IP address, wait already.
 */
class Pipeline {
  private readonly waiting: Exchange[] = [];
  private isBusy = false;
  private current: ServerResponse | undefined;
  /** The last request, if its body had not arrived in full when it got its response. */
  private unread: IncomingMessage | undefined;
  private idleSince = performance.now();

  constructor(
    private readonly connection: Connection,
    private readonly handle: RequestListener,
  ) {}

  /** The responses that are still to be sent, oldest first. */
  get responses(): readonly ServerResponse[] {
    const waiting = this.waiting.map(([, response]) => response);
    return this.current ? [this.current, ...waiting] : waiting;
  }

  /** Whether a response has begun and has not been passed on to its end. */
  get isSending(): boolean {
    return this.current?.headersSent === true && !this.current.writableFinished;
  }

  /** Whether the last request has its response, although its body has not arrived in full. */
  get hasUnreadBody(): boolean {
    return this.unread?.complete === false;
  }

  /** Since when no request is in progress, by `performance.now()`; undefined if one is. */
  get idleSinceMs(): number | undefined {
    return this.isBusy ? undefined : this.idleSince;
  }

  add(request: IncomingMessage, response: ServerResponse): void {
    if (!this.isBusy) this.start([request, response]);
    else if (!this.mayWait(request)) this.connection.socket.destroy();
    else {
      this.connection.deadline.postpone(request);
      this.waiting.push([request, response]);
      this.connection.peer.waiting++;
      if (this.waiting.length === READ_AHEAD) this.connection.pause();
    }
  }

  /** Drops the waiting requests. Called when the connection has ended. */
  abandon(): void {
    const { connection, waiting } = this;
    connection.peer.waiting -= waiting.length;
    if (waiting.length >= READ_AHEAD) connection.resume();
    waiting.length = 0;
    // A connection that lingers is read to its end.
    connection.socket.resume();
  }

  private mayWait({ rawHeaders }: IncomingMessage): boolean {
    return (
      this.waiting.length < MAX_WAITING &&
      this.connection.peer.waiting < MAX_WAITING_PER_ADDRESS &&
      rawHeaders.length <= 2 * MAX_HEADERS
    );
  }

  private start([request, response]: Exchange): void {
    this.isBusy = true;
    this.current = response;
    response.on('close', this.onClose);
    this.handle(request, response);
  }

  private readonly onClose = () => {
    const { req } = this.current ?? {};
    this.unread = req?.complete === false ? req : undefined;
    this.current = undefined;
    // Deferred, so that a long queue does not block other connections.
    if (this.waiting.length > 0) setImmediate(() => this.startNext());
    else this.becomeIdle();
  };

  private becomeIdle(): void {
    this.isBusy = false;
    this.idleSince = performance.now();
  }

  private startNext(): void {
    const { socket } = this.connection;
    if (socket.destroyed || socket.writableEnded) this.abandon();
    const next = this.waiting.shift();
    if (!next) {
      this.becomeIdle();
      return;
    }
    this.connection.peer.waiting--;
    this.start(next);
    if (this.waiting.length === READ_AHEAD - 1) this.connection.resume();
  }
}

/** What a socket has moved. A change of any number is a byte in one direction. */
export interface Progress {
  readonly since: number;
  readonly read: number;
  readonly written: number;
  /** The bytes that the kernel has not accepted yet. */
  readonly unsent: number;
}

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
    socket.destroySoon = () => this.lingeringClose();
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
  lingeringClose(): void {
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

export interface ConnectionLimits {
  /** The limit of all clients together. */
  readonly max: number;
  /** The limit of one IPv4 address or the /64 of an IPv6 address, so that one client cannot use all connections. */
  readonly maxPerAddress: number;
}

/**
 * Limits the number of connections, and so the memory that a flood of them takes. Near the limit, idle connections are
 * closed. At the limit, new connections are closed. By hand: with `server.maxConnections`, the primary process would
 * pass a connection from one full worker to the next without end.
 */
export function limitConnections(server: HttpServer | HttpsServer, { max, maxPerAddress }: ConnectionLimits): void {
  const open = connectionsOf(server);
  server.on('connection', (socket: Socket) => {
    if (open.size >= max) closeIdleConnections(server);
    if (open.size > max || connectionOf(socket).peer.connections > maxPerAddress) socket.destroy();
  });
}

// Chunks: Node passes on each chunk of a body (RFC 9112 section 7.1) separately. Even the smallest one costs about 300
// bytes and several calls. Delete this part when Node joins the chunks of one read.

/** A read of 64 KiB contains four chunks of 16 KiB, or ten thousand of one byte, which take about 10 ms. */
const MANY_CHUNKS = 256;

/** Whether the body has chunks, so that the parser can still find an error behind the headers. */
export function isChunked({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined;
}

/**
 * Joins the chunks of one read of the socket. If one read has many chunks, the connection then waits for its turn among
 * all clients.
 */
export function coalesceChunks(request: IncomingMessage, response: ServerResponse): void {
  if (!isChunked(request)) return;
  const connection = connectionOf(request.socket);
  // Node's parser passes on each chunk by `push`.
  const push = request.push.bind(request);
  let chunks: Buffer[] = [];
  const flush = () => {
    const joined = chunks;
    if (joined.length === 0) return;
    chunks = [];
    push(joined.length === 1 ? joined[0] : Buffer.concat(joined));
    if (joined.length > MANY_CHUNKS) void pauseUntilTurn(connection);
  };
  request.push = (chunk: Buffer | null) => {
    if (chunk === null) {
      flush();
      return push(null);
    }
    // Microtasks run after the parser has handled the whole read.
    if (chunks.push(chunk) === 1) queueMicrotask(flush);
    return request.readableLength < request.readableHighWaterMark;
  };
  // Drops a body that nobody reads. Otherwise Node would drop it chunk by chunk.
  response.prependOnceListener('finish', () => {
    if (request.readableEnded) return;
    request.read(0);
    request.resume();
  });
}

async function pauseUntilTurn(connection: Connection): Promise<void> {
  if (connection.waitsForTurn) return;
  connection.waitsForTurn = true;
  connection.pause();
  await new Task(connection.peer.network).yield();
  connection.waitsForTurn = false;
  connection.resume();
}
