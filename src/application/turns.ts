/** After whatever the sockets bring in this turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** By client, the one whose turn is next first. */
const inLine = new Map<string, (() => void)[]>();

/**
 * For a piece of a long work: of all such pieces in the process one runs in each turn of the event loop, so that a
 * request waits for one of them at the most, however many long works there are. Clients have their turns in rotation: a
 * client waits for one piece of each other client, however much the others do.
 * @param client for whom the work is done: a principal, else an address; absent: the service itself
 */
export function turnInLine(client = ''): Promise<void> {
  return new Promise((resolve) => {
    if (inLine.size === 0) setImmediate(admitNext);
    const line = inLine.get(client) ?? [];
    if (line.push(resolve) === 1) inLine.set(client, line);
  });
}

function admitNext(): void {
  const [next] = inLine;
  if (!next) return;
  const [client, line] = next;
  line.shift()?.();
  inLine.delete(client);
  if (line.length > 0) inLine.set(client, line);
  if (inLine.size > 0) setImmediate(admitNext);
}
