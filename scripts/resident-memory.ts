import { readFileSync } from 'node:fs';

const INTERVAL_MS = 200;
const KIB_PER_MIB = 1_024;

/** Samples the resident memory of a process (Linux) every 200 ms until it is stopped. All values are in MiB. */
export class ResidentMemory {
  readonly start: number;
  private highest: number;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly pid: number) {
    this.start = this.now();
    this.highest = this.start;
    this.timer = setInterval(() => this.sample(), INTERVAL_MS);
  }

  stop(): { start: number; max: number; end: number } {
    clearInterval(this.timer);
    const end = this.sample();
    return { start: this.start, max: this.highest, end };
  }

  private sample(): number {
    const mebibytes = this.now();
    this.highest = Math.max(this.highest, mebibytes);
    return mebibytes;
  }

  private now(): number {
    const [, kibibytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8')) ?? [];
    return Number(kibibytes) / KIB_PER_MIB;
  }
}
