/**
 * The seed of every random choice of a run, from the variable `TEST_SEED`. The gate uses 1, so that a run fails because
 * of a change and not because of other random values. The night draws a seed and prints it.
 */
export const TEST_SEED = Number(process.env['TEST_SEED'] ?? 1);

/** True in the night (`TEST_NIGHT=1`), whose campaigns are longer and have controls. */
export const AT_NIGHT = process.env['TEST_NIGHT'] === '1';

/**
 * The stores on which the tests of the HTTP interface run, from the variable `HTTP_STORES`, with commas between them. `npm
 * test` has the one in memory; `others` are all but that one.
 */
export const HTTP_STORES = process.env['HTTP_STORES'] ?? 'memory';

/** Returns the size of a campaign: small in the gate, whole in the night. */
export function sized({ gate, night }: { readonly gate: number; readonly night: number }): number {
  return AT_NIGHT ? night : gate;
}
