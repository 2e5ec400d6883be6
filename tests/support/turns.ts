/** The number of turns of the event loop that other work had during this work. */
export async function turnsOfOthers(work: () => unknown): Promise<number> {
  let turns = 0;
  let isDone = false;
  const other = () => {
    if (isDone) return;
    turns++;
    setImmediate(other);
  };
  setImmediate(other);
  await work();
  isDone = true;
  return turns;
}
