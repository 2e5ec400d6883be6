import { Spool } from './spool.js';

const KIB = 1_024;
const MIB = KIB * KIB;

export interface SpoolsOptions {
  /** Where files are put, and made where it is missing. */
  readonly folder: string;
  /** Of each; what is beyond goes to files. Default: 256 KiB. */
  readonly memoryBytes?: number;
  /** Of a file; one that was read is gone. Default: 8 MiB. */
  readonly segmentBytes?: number;
  /** Of each: more than that unread is an error. Default: 256 MiB. */
  readonly maxBytes?: number;
  /** Of all together. Default: 512 MiB. */
  readonly maxTotalBytes?: number;
}

const DEFAULTS = {
  memoryBytes: 256 * KIB,
  segmentBytes: 8 * MIB,
  maxBytes: 256 * MIB,
  maxTotalBytes: 512 * MIB,
};

/** All spools of a process, which share the disk with whatever else lies there. */
export class Spools {
  private readonly options: Required<SpoolsOptions>;
  private unread = 0;

  constructor(options: SpoolsOptions) {
    this.options = { ...DEFAULTS, ...options };
  }

  open(): Spool {
    return new Spool(this.options, this);
  }

  /** @returns whether there is room for so many bytes more; then they are taken */
  take(bytes: number): boolean {
    if (this.unread + bytes > this.options.maxTotalBytes) return false;
    this.unread += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.unread -= bytes;
  }
}
