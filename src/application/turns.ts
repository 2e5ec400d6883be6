/** After whatever the sockets bring in this turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const inLine: (() => void)[] = [];

/**
 * For a piece of a long work: of all such pieces in the process one runs in each turn of the event loop, so that a
 * request waits for one of them at the most, however many long works there are.
 */
export function turnInLine(): Promise<void> {
  return new Promise((resolve) => {
    inLine.push(resolve);
    if (inLine.length === 1) setImmediate(admitNext);
  });
}

function admitNext(): void {
  inLine.shift()?.();
  if (inLine.length > 0) setImmediate(admitNext);
}
