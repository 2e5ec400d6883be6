import { setTimeout as sleep } from 'node:timers/promises';
import type { ChildProcessService } from './child-process-service.js';
import type { HttpClient } from './http-client.js';
import { logLines } from './line-stream.js';
import { recordsOf } from './links.js';
import { until } from './until.js';

const WRITERS = 8;

export interface LogEntry {
  readonly pid: number;
  readonly msg: string;
  readonly [detail: string]: unknown;
}

/** Returns the log entries with this message so far. @throws SyntaxError if a line is not JSON */
export function logged(service: ChildProcessService, msg: string): LogEntry[] {
  return logLines(service.log).filter((entry: LogEntry) => entry.msg === msg);
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Creates products over several connections until it is stopped. It does not retry a failed request. */
export class WriteLoad {
  readonly acknowledged: number[] = [];
  private readonly writers: Promise<void>[];
  private stopped = false;

  constructor(private readonly client: HttpClient) {
    this.writers = Array.from({ length: WRITERS }, () => this.write());
  }

  /** Waits until `count` more products are acknowledged. */
  async more(count: number): Promise<void> {
    const goal = this.acknowledged.length + count;
    await until(`${count} more writes are acknowledged`, () => this.acknowledged.length >= goal);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.writers);
  }

  private async write(): Promise<void> {
    while (!this.stopped) {
      const response = await this.client.post('/products', { name: 'Lamp' }).catch(() => undefined);
      if (response?.status === 201) this.acknowledged.push(response.json.id);
      if (!response) await sleep(20);
    }
  }
}

/** Returns the ids of all products, read page by page. */
export async function everyProduct(client: HttpClient): Promise<Set<number>> {
  const found = new Set<number>();
  for await (const { id } of recordsOf(client, '/products?limit=1000')) found.add(id);
  return found;
}
