import { RotatingQueues } from './rotating-queues.js';

/** Resolves after the I/O of this turn of the event loop. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const inLine = new RotatingQueues<() => void>();

/**
 * Resolves when the next piece of a long work may run. One piece of all long works in the process runs in each turn
 * of the event loop, so a request waits for at most one of them. Clients take turns: a client waits for one piece of
 * each other client, however much work the others have.
 * @param client for whom the work is done: a principal, else an address; absent: the service itself
 */
export function yieldFairly(client = ''): Promise<void> {
  return new Promise((resolve) => {
    if (inLine.isEmpty) setImmediate(admitNext);
    inLine.add(client, resolve);
  });
}

function admitNext(): void {
  const [next] = inLine;
  if (!next) return;
  const [client, proceed] = next;
  inLine.serve(client, proceed);
  proceed();
  if (!inLine.isEmpty) setImmediate(admitNext);
}
