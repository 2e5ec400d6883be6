import { RotatingQueues } from './rotating-queues.js';

const waiting = new RotatingQueues<() => void>();

/**
 * The long work of a client. It runs in pieces, and clients take turns between them: only one piece of all long work runs
 * in each turn of the event loop, so a request waits for at most one of them, and a client for at most one piece of each
 * other client.
 */
export class Task {
  /**
   * @param client whose limits count: a principal, else an IP address; empty: the service itself
   * @param mayTakeLong whether no time limit ends the work, such as the pages of an export that has begun
   */
  constructor(
    readonly client: string,
    readonly mayTakeLong = false,
  ) {}

  unlimited(): Task {
    return new Task(this.client, true);
  }

  /** Resolves when the next piece may run. */
  yield(): Promise<void> {
    return new Promise((resolve) => {
      if (waiting.isEmpty) setImmediate(admitNext);
      waiting.add(this.client, resolve);
    });
  }
}

/** Other work of the process runs after so many items, or bytes of items. Tuning. */
const ITEMS_PER_SLICE = 32;
const BYTES_PER_SLICE = 32_768;

/** Cuts work on many items into pieces. */
export class Slices {
  private items = ITEMS_PER_SLICE;
  private bytes = 0;

  constructor(private readonly task: Task) {}

  /**
   * Returns a promise if the next item belongs to another piece.
   * @param bytes the size of the item
   */
  next(bytes: number): Promise<void> | undefined {
    const isDue = this.items >= ITEMS_PER_SLICE || this.bytes >= BYTES_PER_SLICE;
    if (isDue) [this.items, this.bytes] = [0, 0];
    this.items++;
    this.bytes += bytes;
    return isDue ? this.task.yield() : undefined;
  }
}

/** The work of the service itself. */
export const BACKGROUND = new Task('');

function admitNext(): void {
  const [next] = waiting;
  if (!next) return;
  const [client, proceed] = next;
  waiting.serve(client, proceed);
  proceed();
  if (!waiting.isEmpty) setImmediate(admitNext);
}
