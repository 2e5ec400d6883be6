import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf, parseAddress } from './ip-address.js';
import { resumeReading } from './node-workarounds.js';

/** While this many requests of a connection wait, no more of it is read. */
const READ_AHEAD = 2;

/**
 * One read of 64 KiB can contain far more: 590 requests with a token, 2,500 of the shortest. Each waiting request
 * costs some 2.5 KB.
 */
export const MAX_WAITING = 1_000;

/** On all connections of one address: 5 MB of the shortest requests. */
export const MAX_WAITING_OF_ADDRESS = 2_000;

/**
 * A request with more header fields does not wait. Each field costs some 100 bytes, and no client needs half as many.
 */
const MAX_FIELDS = 200;

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
  private hasWaited = false;

  constructor(
    private readonly socket: Socket,
    private readonly begin: RequestListener,
    private readonly waits: (request: IncomingMessage) => void,
    private readonly address: WaitingOfAddress,
  ) {}

  get responses(): readonly ServerResponse[] {
    const waiting = this.waiting.map(([, response]) => response);
    return this.current ? [this.current, ...waiting] : waiting;
  }

  add(request: IncomingMessage, response: ServerResponse): void {
    if (!this.isBusy) this.start([request, response]);
    else if (!this.mayWait(request)) this.socket.destroy();
    else {
      this.waiting.push([request, response]);
      this.countWaiting(1);
      this.waits(request);
      this.watchResumes();
      this.holdBack();
    }
  }

  /** Called when the connection is gone. */
  abandon(): void {
    this.countWaiting(-this.waiting.length);
  }

  private mayWait({ rawHeaders }: IncomingMessage): boolean {
    return (
      this.waiting.length < MAX_WAITING &&
      this.address.waiting < MAX_WAITING_OF_ADDRESS &&
      rawHeaders.length <= 2 * MAX_FIELDS
    );
  }

  private countWaiting(change: number): void {
    this.address.waiting += change;
  }

  private start([request, response]: Exchange): void {
    this.isBusy = true;
    this.current = response;
    response.once('close', () => {
      this.current = undefined;
      // Later, so that a long queue leaves the event loop to other connections.
      setImmediate(() => this.startNext());
    });
    this.begin(request, response);
  }

  private startNext(): void {
    this.isBusy = false;
    const isOpen = !this.socket.destroyed && !this.socket.writableEnded;
    const next = isOpen ? this.waiting.shift() : undefined;
    if (!next) return;
    this.countWaiting(-1);
    this.start(next);
    if (this.waiting.length === READ_AHEAD - 1) resumeReading(this.socket);
  }

  private watchResumes(): void {
    if (this.hasWaited) return;
    this.hasWaited = true;
    // Node resumes the socket after each message, and for each body.
    this.socket.on('resume', () => this.holdBack());
  }

  private holdBack(): void {
    if (this.waiting.length >= READ_AHEAD) this.socket.pause();
  }
}

/**
 * Begins the requests of a connection one after the other (RFC 9112 section 9.3.2), each when the previous response
 * is handed to the socket. Node begins them all at once (nodejs/node#50850); delete this file when it no longer does.
 * A request whose connection ends before its turn never begins. A connection is closed if more than {@link
 * MAX_WAITING} of its requests wait, or more than {@link MAX_WAITING_OF_ADDRESS} of its address.
 */
export class PipelinedRequests {
  private readonly pipelines = new WeakMap<Socket, Pipeline>();
  private readonly addresses = new Map<string, WaitingOfAddress>();

  /**
   * @param begin called for each request in its turn
   * @param waits called for each request that does not begin immediately
   */
  constructor(
    private readonly begin: RequestListener,
    private readonly waits: (request: IncomingMessage) => void,
  ) {}

  add(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const pipeline = this.pipelines.get(socket) ?? this.newPipeline(socket);
    pipeline.add(request, response);
  }

  private newPipeline(socket: Socket): Pipeline {
    const name = networkOf(parseAddress(socket.remoteAddress));
    const address = this.addresses.get(name) ?? { connections: 0, waiting: 0 };
    this.addresses.set(name, address);
    address.connections++;
    const pipeline = new Pipeline(socket, this.begin, this.waits, address);
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
}
