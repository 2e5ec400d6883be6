import { RotatingQueues } from './rotating-queues.js';

/** Resolves after the I/O of this turn of the event loop. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const waiting = new RotatingQueues<() => void>();

/**
 * Resolves when the next piece of a long task may run. Only one piece of all long tasks runs in each turn of the event
 * loop, so a request waits for at most one of them. Clients take turns: between two pieces, a client waits for at most
 * one piece of each other client.
 * @param client the client of the task: a principal, else an IP address; absent: the service itself
 */
export function yieldFairly(client = ''): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.isEmpty) setImmediate(admitNext);
    waiting.add(client, resolve);
  });
}

function admitNext(): void {
  const [next] = waiting;
  if (!next) return;
  const [client, proceed] = next;
  waiting.serve(client, proceed);
  proceed();
  if (!waiting.isEmpty) setImmediate(admitNext);
}
