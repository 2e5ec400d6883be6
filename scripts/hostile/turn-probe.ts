/**
 * Loaded into the service's process with `node --import`. Measures how much CPU time the main thread spends in one turn of
 * the event loop (Linux). On SIGUSR2 it appends a line to the file that TURN_PROBE_FILE names, `MAX_MS TOTAL_MS`: the longest turn and all
 * turns since the last signal.
 */
import { appendFileSync, readFileSync } from 'node:fs';

const NANOSECONDS_PER_MS = 1_000_000;
const file = process.env['TURN_PROBE_FILE'] ?? '';

let last = cpuNanoseconds();
let begin = last;
let longest = 0;

/** CPU time of the main thread: its thread id is the process id. */
function cpuNanoseconds(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[0]);
}

function measure(): void {
  const now = cpuNanoseconds();
  longest = Math.max(longest, now - last);
  last = now;
  setImmediate(measure);
}

setImmediate(measure);
process.on('SIGUSR2', () => {
  const now = cpuNanoseconds();
  appendFileSync(file, `${longest / NANOSECONDS_PER_MS} ${(now - begin) / NANOSECONDS_PER_MS}\n`);
  longest = 0;
  begin = now;
  last = now;
});
