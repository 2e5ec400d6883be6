import type { Principal } from '../../../domain/access.js';

/** What is known of who sends a request. */
export interface Sender {
  readonly state: { readonly principal?: Principal; readonly address: string };
}

/** Whose limits a request counts against: its principal's, else its address's. */
export function clientOf({ state }: Sender): string {
  return state.principal?.id ?? `address:${state.address}`;
}
