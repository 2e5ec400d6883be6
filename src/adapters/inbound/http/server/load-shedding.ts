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
/** How long a turn sends refusals, so that they take an eighth of the time at most. Others wait for the next turn. */
const REFUSING_MS = 2;

type Exchange = Parameters<RequestListener>;

/**
 * Refuses the requests that come too late in a turn of the event loop, so that an overloaded process responds in time to
 * as many as it can. Without this, all requests wait for each other, and none has its response in time. A turn reads
 * what has arrived on all connections, first come first served. So a request has waited for at most the turn before and
 * the age of this one, and a request that is served needs no queue. Refusals wait in a list, at most one for each
 * connection.
 * @param serve for requests that are in time
 * @param refuse sends 503. It may be called some turns later, and is not called if the client has disconnected
 */
export function shedLoad(serve: RequestListener, refuse: RequestListener): RequestListener {
  const refused: Exchange[] = [];
  let begin = 0;
  let served = 0;
  let isTurn = false;
  let share = CALM;

  const beginTurn = () => {
    isTurn = true;
    begin = performance.now();
    served = 0;
    setImmediate(endTurn);
  };
  const endTurn = () => {
    isTurn = false;
    share = refused.length > 0 ? OVERLOADED : CALM;
    if (refused.length === 0) return;
    const end = performance.now() + REFUSING_MS;
    let count = 0;
    for (const [request, response] of refused) {
      if (!response.closed) refuse(request, response);
      if (++count % 8 === 0 && performance.now() >= end) break;
    }
    refused.splice(0, count);
    if (refused.length > 0) beginTurn();
  };
  return (request: IncomingMessage, response: ServerResponse) => {
    if (!isTurn) beginTurn();
    if (served < share.requests || performance.now() - begin < share.ms) {
      served++;
      serve(request, response);
    } else refused.push([request, response]);
  };
}
