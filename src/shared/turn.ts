import { RotatingQueues } from './rotating-queues.js';

const waiting = new RotatingQueues<() => void>();

/**
 * Whose long work it is. The work runs in pieces, and clients take turns between them: only one piece of all long work
 * runs in each turn of the event loop, so a request waits for at most one of them, and a client for at most one piece of
 * each other client.
 */
export class Turn {
  /**
   * @param client whose limits count: a principal, else an IP address; empty: the service itself
   * @param mayTakeLong whether no time limit ends the work, such as the pages of an export that has begun
   */
  constructor(
    readonly client: string,
    readonly mayTakeLong = false,
  ) {}

  unlimited(): Turn {
    return new Turn(this.client, true);
  }

  /** Resolves when the next piece may run. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (waiting.isEmpty) setImmediate(admitNext);
      waiting.add(this.client, resolve);
    });
  }
}

/** The work of the service itself. */
export const SERVICE_TURN = new Turn('');

function admitNext(): void {
  const [next] = waiting;
  if (!next) return;
  const [client, proceed] = next;
  waiting.serve(client, proceed);
  proceed();
  if (!waiting.isEmpty) setImmediate(admitNext);
}
