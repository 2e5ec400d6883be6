import type { Worker } from 'node:cluster';

/** A connection as the primary passes it on. Closing it twice does no harm. */
interface TcpHandle {
  close(): void;
}

/** What Node's cluster sends to a worker with a connection, and what the worker responds. */
interface ClusterMessage {
  readonly act?: string;
  readonly seq?: number;
  readonly ack?: number;
}

/**
 * Returns a function that closes the connections which a worker did not take before it ended. Otherwise the primary
 * keeps them open, and their clients wait forever (nodejs/node-v0.x-archive#7006). Delete this file when Node closes
 * them or passes them to another worker.
 */
export function trackPendingConnections({ process: child }: Worker): () => void {
  const pending = new Map<number | undefined, TcpHandle>();
  const send = child.send.bind(child) as (...args: unknown[]) => boolean;
  child.send = (message: ClusterMessage, handle?: unknown, ...rest: unknown[]) => {
    if (message.act === 'newconn') pending.set(message.seq, handle as TcpHandle);
    return send(message, handle, ...rest);
  };
  child.on('internalMessage', ({ ack }: ClusterMessage) => pending.delete(ack));
  return () => {
    for (const handle of pending.values()) handle.close();
  };
}
