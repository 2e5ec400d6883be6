import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

interface Share {
  /** A turn of the event loop serves at least this many requests, whatever time they take. */
  readonly requests: number;
  /** How long a turn serves requests beyond that, in milliseconds. */
  readonly ms: number;
}

/** A turn that exceeds both bounds is the first sign of overload. A burst, the garbage collector or a slow disk is not. */
const CALM: Share = { requests: 256, ms: 50 };
const OVERLOADED: Share = { requests: 64, ms: 15 };
/**
 * The first requests of each network beyond the share of a turn are served too, so that the requests of one client do
 * not displace those of the others.
 */
const EXTRA = { ofEach: 4, ofAll: 64 };
/** How long a turn sends refusals, so that they take an eighth of the time at most. Others wait for the next turn. */
const REFUSING_MS = 2;

type Exchange = Parameters<RequestListener>;

interface Listeners {
  /** For requests that are in time. */
  readonly serve: RequestListener;
  /** Sends 503. It may be called some turns later, and is not called if the client has disconnected. */
  readonly refuse: RequestListener;
  /** The network that a request comes from. */
  readonly networkOf: (request: IncomingMessage) => string;
  /** Milliseconds of a clock that never goes back. */
  readonly elapsed?: () => number;
}

/**
 * Refuses the requests that come too late in a turn of the event loop, so that an overloaded process responds in time to
 * as many as it can. Without this, all requests wait for each other, and none has its response in time. A turn reads
 * what has arrived on all connections, first come first served. So a request has waited for at most the turn before and
 * the age of this one, and a request that is served needs no queue. Refusals wait in a list, at most one for each
 * connection.
 */
export function shedLoad({ serve, refuse, networkOf, elapsed = () => performance.now() }: Listeners): RequestListener {
  const refused: Exchange[] = [];
  /** How many requests beyond the share of this turn were served. */
  const extra = new Map<string, number>();
  let begin = 0;
  let end = Number.NEGATIVE_INFINITY;
  let served = 0;
  let servedExtra = 0;
  let isTurn = false;
  let share = CALM;

  const beginTurn = () => {
    isTurn = true;
    begin = elapsed();
    // After a pause the overload is over, even if the last turn still sent refusals.
    if (begin - end > CALM.ms) share = CALM;
    served = 0;
    servedExtra = 0;
    extra.clear();
    setImmediate(endTurn);
  };
  const endTurn = () => {
    isTurn = false;
    share = refused.length > 0 ? OVERLOADED : CALM;
    if (refused.length > 0) sendRefusals();
    end = elapsed();
    if (refused.length > 0) beginTurn();
  };
  const sendRefusals = () => {
    const limit = elapsed() + REFUSING_MS;
    let count = 0;
    for (const [request, response] of refused) {
      if (!response.closed) refuse(request, response);
      if (++count % 8 === 0 && elapsed() >= limit) break;
    }
    refused.splice(0, count);
  };
  const isWithinShare = () => served < share.requests || elapsed() - begin < share.ms;
  const isExtra = (request: IncomingMessage) => {
    if (servedExtra >= EXTRA.ofAll) return false;
    const network = networkOf(request);
    const count = extra.get(network) ?? 0;
    if (count >= EXTRA.ofEach) return false;
    extra.set(network, count + 1);
    servedExtra++;
    return true;
  };
  return (request: IncomingMessage, response: ServerResponse) => {
    if (!isTurn) beginTurn();
    if (isWithinShare() || isExtra(request)) {
      served++;
      serve(request, response);
    } else refused.push([request, response]);
  };
}
