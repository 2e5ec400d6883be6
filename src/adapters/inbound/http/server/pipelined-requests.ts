import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Where so many requests of a connection wait, no more of it is read. */
const READ_AHEAD = 16;

/**
 * One read of 64 KiB may hold far more: 590 requests that carry a token, 2,500 of the shortest. Each that waits costs
 * some 2.5 KB.
 */
export const MAX_WAITING = 1_000;

type Exchange = readonly [request: IncomingMessage, response: ServerResponse];

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
  ) {}

  get responses(): readonly ServerResponse[] {
    const waiting = this.waiting.map(([, response]) => response);
    return this.current ? [this.current, ...waiting] : waiting;
  }

  add(request: IncomingMessage, response: ServerResponse): void {
    if (!this.isBusy) this.start([request, response]);
    else if (this.waiting.length >= MAX_WAITING) this.socket.destroy();
    else {
      this.waiting.push([request, response]);
      this.waits(request);
      this.readByStream();
      this.holdBack();
    }
  }

  private start([request, response]: Exchange): void {
    this.isBusy = true;
    this.current = response;
    response.once('close', () => {
      this.current = undefined;
      // In a turn of its own, so that a long queue leaves the event loop to the other connections.
      setImmediate(() => this.startNext());
    });
    this.begin(request, response);
  }

  private startNext(): void {
    this.isBusy = false;
    const isOpen = !this.socket.destroyed && !this.socket.writableEnded;
    const next = isOpen ? this.waiting.shift() : undefined;
    if (!next) return;
    this.start(next);
    if (this.waiting.length === READ_AHEAD - 1) this.release();
  }

  /**
   * Node's parser takes its bytes from below the stream, where a pause does not stop what TLS has decrypted already: a parser that
   * is paused too fails with HPE_PAUSED. With a listener on the stream, Node gives it the bytes through that, in order.
   */
  private readByStream(): void {
    if (this.hasWaited) return;
    this.hasWaited = true;
    this.socket.on('data', () => {});
    // Node resumes the socket behind each message, and for each body.
    this.socket.on('resume', () => this.holdBack());
  }

  private holdBack(): void {
    if (this.waiting.length >= READ_AHEAD) this.socket.pause();
  }

  /** Not while Node itself pauses the socket, until what it is to send has drained. */
  private release(): void {
    if (this.socket.writableNeedDrain) this.socket.once('drain', () => this.socket.resume());
    else this.socket.resume();
  }
}

/**
 * Begins the requests of a connection one after the other (RFC 9112 section 9.3.2): the next one when the response before
 * it has been handed to the socket. A request whose connection ends before its turn never begins. A connection
 * on which more than {@link MAX_WAITING} wait is closed.
 */
export class PipelinedRequests {
  private readonly pipelines = new WeakMap<Socket, Pipeline>();

  /**
   * @param begin told of each request when its turn has come
   * @param waits told of each request that does not begin at once
   */
  constructor(
    private readonly begin: RequestListener,
    private readonly waits: (request: IncomingMessage) => void,
  ) {}

  add(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const pipeline = this.pipelines.get(socket) ?? new Pipeline(socket, this.begin, this.waits);
    this.pipelines.set(socket, pipeline);
    pipeline.add(request, response);
  }

  /** The responses that are still to be sent on a connection, oldest first. */
  responsesOn(socket: Socket): readonly ServerResponse[] {
    return this.pipelines.get(socket)?.responses ?? [];
  }
}
