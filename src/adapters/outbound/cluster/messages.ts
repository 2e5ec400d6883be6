/** One end of an IPC channel between two processes. Each message arrives whole and in order, as JSON carries it. */
export interface Channel {
  send(message: object): void;
  receive(listener: (message: unknown) => void): void;
}

/**
 * Asks the primary to count `needed` requests of one caller; with 0, it asks for the caller's state alone. The worker
 * returns the rest of its lease at the same time.
 */
export interface LeaseRequest {
  readonly id: number;
  readonly policy: string;
  readonly caller: string;
  readonly needed: number;
  readonly returned?: LeaseReturn | undefined;
}

/** The unused rest of a lease. */
export interface LeaseReturn {
  readonly policy: string;
  readonly caller: string;
  readonly lease: number;
  readonly unused: number;
}

/** The response to one lease request. */
export interface Lease {
  /** How many of the needed requests are allowed. */
  readonly allowed: number;
  /** How many more requests the worker may allow by itself, and the name of this lease. */
  readonly ahead: number;
  readonly lease: number;
  /** The rest of the quota that is neither used nor leased. */
  readonly remaining: number;
  /** Until the window ends. */
  readonly msLeft: number;
  /** Whether every further request in this window is over the quota. */
  readonly isExhausted: boolean;
}

/** From a worker. */
export interface WorkerMessage {
  readonly requests?: readonly LeaseRequest[];
  readonly returned?: LeaseReturn;
}

/** From the primary. Leases have the ids of their requests; one is null if the primary does not know the policy. */
export interface PrimaryMessage {
  readonly leases?: readonly (readonly [id: number, lease: Lease | null])[];
  /** A lease that must be returned. */
  readonly recall?: Omit<LeaseReturn, 'unused'>;
}
