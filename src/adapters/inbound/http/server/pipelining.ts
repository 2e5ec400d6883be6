import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { peerNetwork } from './ip-address.js';
import { resumeReading } from './node-workarounds.js';

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

/** Shared by the connections of one address. */
interface WaitingOfAddress {
  connections: number;
  waiting: number;
}

/** The requests of one connection. */
class Pipeline {
  private readonly waiting: Exchange[] = [];
  private isBusy = false;
  private current: ServerResponse | undefined;
  /** The last request, if its body had not arrived in full when it got its response. */
  private unread: IncomingMessage | undefined;
  private isWatched = false;

  constructor(
    private readonly socket: Socket,
    private readonly handle: RequestListener,
    private readonly onWait: (request: IncomingMessage) => void,
    private readonly address: WaitingOfAddress,
  ) {}

  get responses(): readonly ServerResponse[] {
    const waiting = this.waiting.map(([, response]) => response);
    return this.current ? [this.current, ...waiting] : waiting;
  }

  get hasUnreadBody(): boolean {
    return this.unread?.complete === false;
  }

  add(request: IncomingMessage, response: ServerResponse): void {
    if (!this.isBusy) this.start([request, response]);
    else if (!this.mayWait(request)) this.socket.destroy();
    else {
      this.waiting.push([request, response]);
      this.countWaiting(1);
      this.onWait(request);
      this.pauseAfterResumes();
      this.pauseIfTooManyWait();
    }
  }

  /** Drops the waiting requests. Called when the connection has ended. */
  abandon(): void {
    this.countWaiting(-this.waiting.length);
    this.waiting.length = 0;
    // A connection that closes in stages is read to its end.
    this.socket.resume();
  }

  private mayWait({ rawHeaders }: IncomingMessage): boolean {
    return (
      this.waiting.length < MAX_WAITING &&
      this.address.waiting < MAX_WAITING_PER_ADDRESS &&
      rawHeaders.length <= 2 * MAX_HEADERS
    );
  }

  private countWaiting(change: number): void {
    this.address.waiting += change;
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
    if (this.waiting.length === 0) this.isBusy = false;
    // Deferred, so that a long queue does not block other connections.
    else setImmediate(() => this.startNext());
  };

  private startNext(): void {
    this.isBusy = false;
    if (this.socket.destroyed || this.socket.writableEnded) this.abandon();
    const next = this.waiting.shift();
    if (!next) return;
    this.countWaiting(-1);
    this.start(next);
    if (this.waiting.length === READ_AHEAD - 1) resumeReading(this.socket);
  }

  private pauseAfterResumes(): void {
    if (this.isWatched) return;
    this.isWatched = true;
    // Node resumes the socket after each message, and for each body.
    this.socket.on('resume', () => this.pauseIfTooManyWait());
  }

  private pauseIfTooManyWait(): void {
    if (this.waiting.length >= READ_AHEAD) this.socket.pause();
  }
}

/**
 * Handles the pipelined requests of a connection one after the other (RFC 9112 section 9.3.2). Each one starts when the
 * previous response has been passed to the socket. Node starts them all at once (nodejs/node#50850); delete this file
 * when it no longer does. A request whose connection ends before its turn is never handled. A connection is closed if
 * {@link MAX_WAITING} of its requests, or {@link MAX_WAITING_PER_ADDRESS} of its IP address, wait already.
 */
export class PipelinedRequests {
  private readonly pipelines = new WeakMap<Socket, Pipeline>();
  private readonly addresses = new Map<string, WaitingOfAddress>();

  /**
   * @param handle called for each request in its turn
   * @param onWait called for each request that is not handled immediately
   */
  constructor(
    private readonly handle: RequestListener,
    private readonly onWait: (request: IncomingMessage) => void,
  ) {}

  add(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const pipeline = this.pipelines.get(socket) ?? this.newPipeline(socket);
    pipeline.add(request, response);
  }

  private newPipeline(socket: Socket): Pipeline {
    const name = peerNetwork(socket);
    const address = this.addresses.get(name) ?? { connections: 0, waiting: 0 };
    this.addresses.set(name, address);
    address.connections++;
    const pipeline = new Pipeline(socket, this.handle, this.onWait, address);
    socket.once('close', () => {
      pipeline.abandon();
      if (--address.connections === 0) this.addresses.delete(name);
    });
    this.pipelines.set(socket, pipeline);
    return pipeline;
  }

  /** The responses that are still to be sent on a connection, oldest first. */
  responsesOn(socket: Socket): readonly ServerResponse[] {
    return this.pipelines.get(socket)?.responses ?? [];
  }

  /** Whether the last request of a connection has its response, although its body has not arrived in full. */
  hasUnreadBody(socket: Socket): boolean {
    return this.pipelines.get(socket)?.hasUnreadBody ?? false;
  }
}
