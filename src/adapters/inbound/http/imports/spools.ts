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
  /** Of all of one client. Default: 256 MiB, so that one client never takes the room of others. */
  readonly maxClientBytes?: number;
  /** Of all together. Default: 512 MiB. */
  readonly maxTotalBytes?: number;
}

const DEFAULTS = {
  memoryBytes: 256 * KIB,
  segmentBytes: 8 * MIB,
  maxBytes: 256 * MIB,
  maxClientBytes: 256 * MIB,
  maxTotalBytes: 512 * MIB,
};

/** All spools of a process, which share the disk with whatever else lies there. */
export class Spools {
  private readonly options: Required<SpoolsOptions>;
  private readonly unread = new Map<string, number>();
  private unreadByAll = 0;

  constructor(options: SpoolsOptions) {
    this.options = { ...DEFAULTS, ...options };
  }

  /** @param client whose import it is: a principal, else an address */
  open(client: string): Spool {
    return new Spool(this.options, {
      take: (bytes) => this.take(client, bytes),
      giveBack: (bytes) => this.count(client, -bytes),
    });
  }

  private take(client: string, bytes: number): boolean {
    const { maxClientBytes, maxTotalBytes } = this.options;
    const ofClient = this.unread.get(client) ?? 0;
    if (ofClient + bytes > maxClientBytes || this.unreadByAll + bytes > maxTotalBytes) return false;
    this.count(client, bytes);
    return true;
  }

  private count(client: string, bytes: number): void {
    const ofClient = (this.unread.get(client) ?? 0) + bytes;
    this.unreadByAll += bytes;
    if (ofClient > 0) this.unread.set(client, ofClient);
    else this.unread.delete(client);
  }
}
