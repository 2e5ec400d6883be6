/** Lets whatever else the process has to do have its turn: after it, all that the sockets brought meanwhile was seen. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
