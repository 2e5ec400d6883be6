/** `warning`: works, but may surprise. `wrong`: somebody has to do something. */
export type Severity = 'ok' | 'warning' | 'wrong';

/** One result of `catalogue check`, which prints its fields under these names as JSON. */
export interface Diagnosis {
  readonly subject: string;
  readonly verdict: Severity;
  /** One sentence for a person, without secrets. */
  readonly message: string;
  /** What to do; absent if the verdict is `ok`. */
  readonly remedy?: string;
}

export function ok(subject: string, message: string): Diagnosis {
  return { subject, verdict: 'ok', message };
}

export function warning(subject: string, message: string, remedy: string): Diagnosis {
  return { subject, verdict: 'warning', message, remedy };
}

export function wrong(subject: string, message: string, remedy: string): Diagnosis {
  return { subject, verdict: 'wrong', message: message.replace(/\.$/, ''), remedy };
}

/** The diagnoses of another machine or of a store. */
export interface DiagnosticReport {
  readonly diagnoses: readonly Diagnosis[];
  /** A time that the local clock can be compared with, in milliseconds since 1970. */
  readonly time?: TimeReading;
}

export interface TimeReading {
  /** `now`: another clock. `past`: a time that has passed, such as that of the newest record. */
  readonly kind: 'now' | 'past';
  readonly of: string;
  readonly at: number;
  /** The local time of the reading. */
  readonly readAt: number;
}
