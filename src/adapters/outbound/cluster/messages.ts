/** One end of an IPC channel between two processes. Each message arrives whole and in order, as JSON carries it. */
export interface Channel {
  send(message: object): void;
  receive(listener: (message: unknown) => void): void;
}

/**
 * What a worker needs for one caller: `needed` requests counted, or with 0 only the caller's state. It returns the rest
 * of its lease at the same time.
 */
export interface Need {
  readonly id: number;
  readonly policy: string;
  readonly caller: string;
  readonly needed: number;
  readonly returned?: Returned | undefined;
}

/** The unused rest of a lease. */
export interface Returned {
  readonly policy: string;
  readonly caller: string;
  readonly lease: number;
  readonly unused: number;
}

/** The response to one need. */
export interface Grant {
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
  readonly needs?: readonly Need[];
  readonly returned?: Returned;
}

/** From the primary. Grants have the ids of their needs; one is null if the primary does not know the policy. */
export interface PrimaryMessage {
  readonly grants?: readonly (readonly [id: number, grant: Grant | null])[];
  /** A lease that must be returned. */
  readonly recall?: Omit<Returned, 'unused'>;
}
