import type { Diagnosis, TimeReading } from '../../../application/ports/diagnostics.js';

/** OAuth tolerates 5 seconds, and the times of signing keys a minute: see docs/how-to/operations.md. */
const CLOCK_WARNING_MS = 5_000;
const CLOCK_WRONG_MS = 60_000;

/** Whether the clock of this machine agrees with the times of others. */
export function* checkClock(readings: readonly (TimeReading | undefined)[]): Generator<Diagnosis> {
  const known = readings.filter((reading) => reading !== undefined);
  for (const reading of known) yield clockDiagnosis(reading);
  if (known.some(({ kind }) => kind === 'now')) return;
  const message = 'there is no other clock here to compare with';
  yield { subject: 'clock', verdict: 'ok', message: `${message}; make sure that this machine uses NTP` };
}

function clockDiagnosis({ kind, of, at, readAt }: TimeReading): Diagnosis {
  const aheadMs = readAt - at;
  const offMs = kind === 'now' ? Math.abs(aheadMs) : Math.max(0, -aheadMs);
  const seconds = (offMs / 1_000).toFixed(1);
  const remedy = 'synchronise the clocks of all machines (NTP)';
  if (kind === 'past') {
    if (offMs <= CLOCK_WARNING_MS) return { subject: 'clock', verdict: 'ok', message: `it is after ${of}` };
    return { subject: 'clock', verdict: 'wrong', message: `${of} is ${seconds} s in the future`, remedy };
  }
  const message = `it differs from ${of} by ${seconds} s`;
  if (offMs <= CLOCK_WARNING_MS) return { subject: 'clock', verdict: 'ok', message };
  return { subject: 'clock', verdict: offMs > CLOCK_WRONG_MS ? 'wrong' : 'warning', message, remedy };
}
