/**
 * Loaded into the service's process with `node --import`. Measures how much CPU time the main thread spends in one turn
 * of the event loop (Linux). The first SIGUSR2 begins a measurement. The second ends it and appends the longest turn,
 * in milliseconds, to the file that TURN_PROBE_FILE names.
 */
import { appendFileSync, readFileSync } from 'node:fs';

const NANOSECONDS_PER_MS = 1_000_000;
const file = process.env['TURN_PROBE_FILE'] ?? '';

let last = 0;
let longest = 0;
let isMeasuring = false;

/** CPU time of the main thread: its thread id is the process id. */
function cpuNanoseconds(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[0]);
}

function measure(): void {
  const now = cpuNanoseconds();
  longest = Math.max(longest, now - last);
  last = now;
  if (isMeasuring) setImmediate(measure);
}

process.on('SIGUSR2', () => {
  isMeasuring = !isMeasuring;
  if (!isMeasuring) {
    measure();
    appendFileSync(file, `${longest / NANOSECONDS_PER_MS}\n`);
    return;
  }
  longest = 0;
  last = cpuNanoseconds();
  setImmediate(measure);
});
