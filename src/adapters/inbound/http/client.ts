import type { Context } from './context.js';

/** Whose limits a request counts against: its principal's, else its address's. */
export function clientOf({ state }: Context): string {
  return state.principal?.id ?? `address:${state.address}`;
}
