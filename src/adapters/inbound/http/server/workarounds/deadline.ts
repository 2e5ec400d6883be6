import type { IncomingMessage } from 'node:http';

/**
 * The deadline of the request that arrives on a connection, if it differs from Node's. By hand: `server.requestTimeout`
 * applies to all requests and cannot be changed for one request (nodejs/node#46574, nodejs/help#4120). Delete this file
 * when a request can have its own timeout.
 */
export class Deadline {
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
