import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

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
  /** The number of requests that wait. */
  waiting: number;
}

/** What a pipeline needs of its connection. */
interface Carrier {
  readonly socket: Socket;
  readonly peer: Peer;
  readonly deadline: { postpone(request: IncomingMessage): void };
  pause(): void;
  resume(): void;
}

/**
 * Handles the pipelined requests of a connection one after the other (RFC 9112 section 9.3.2). Each one starts when the
 * previous response has been passed to the socket. Node starts them all at once (nodejs/node#50850); delete this file
 * when it no longer does. A request whose connection ends before its turn is never handled. A connection is closed if
 * {@link MAX_WAITING} of its requests, or {@link MAX_WAITING_PER_ADDRESS} of its IP address, wait already.
 */
export class Pipeline {
  private readonly waiting: Exchange[] = [];
  private isBusy = false;
  private current: ServerResponse | undefined;
  /** The last request, if its body had not arrived in full when it got its response. */
  private unread: IncomingMessage | undefined;
  private idleSince = performance.now();

  constructor(
    private readonly connection: Carrier,
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
    // A connection that closes in stages is read to its end.
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
