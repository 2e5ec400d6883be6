/** One queue for each client, served in rotation, so that the queue of one client never delays another client. */
export class RotatingQueues<Item> implements Iterable<readonly [client: string, first: Item]> {
  /** By client, in the order of their turns. */
  private readonly queues = new Map<string, Item[]>();

  get isEmpty(): boolean {
    return this.queues.size === 0;
  }

  get length(): number {
    let length = 0;
    for (const queue of this.queues.values()) length += queue.length;
    return length;
  }

  /** @returns the length of the client's queue */
  add(client: string, item: Item): number {
    const queue = this.queues.get(client) ?? [];
    if (queue.push(item) === 1) this.queues.set(client, queue);
    return queue.length;
  }

  /** The first item of each client, in the order of their turns. */
  *[Symbol.iterator](): Generator<readonly [client: string, first: Item], void, void> {
    for (const [client, [first]] of this.queues) if (first !== undefined) yield [client, first];
  }

  /** Removes an item that leaves without its turn. */
  remove(client: string, item: Item): void {
    const queue = this.queues.get(client) ?? [];
    queue.splice(queue.indexOf(item), 1);
    if (queue.length === 0) this.queues.delete(client);
  }

  /** Removes an item whose turn it is. The client's next turn comes after those of all other clients. */
  serve(client: string, item: Item): void {
    this.remove(client, item);
    const queue = this.queues.get(client);
    if (!queue) return;
    this.queues.delete(client);
    this.queues.set(client, queue);
  }
}

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
