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
