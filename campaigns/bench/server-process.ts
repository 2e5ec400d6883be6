import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVER_CORE } from './machine.js';
import { processorTime, residentMemory } from './process-figures.js';

const READY_WITHIN_MS = 60_000;

/** The processes that this program has started and not yet stopped. */
const running = new Set<ChildProcess>();

/** Kills them, when there is no time to stop them. */
export function killServers(): void {
  for (const child of running) child.kill('SIGKILL');
}

export interface Program {
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** By default a minute. */
  readonly readyWithinMs?: number;
}

/** A server in a process of its own, bound to one core. Its output and log go to files of its folder. */
export class ServerProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly pid: number,
    readonly port: number,
  ) {}

  /** Waits until the server says on which port it listens. @throws Error if it ends before */
  static async start(folder: string, program: Program): Promise<ServerProcess> {
    const [output, log] = [join(folder, 'output'), join(folder, 'log')];
    const { PATH = '' } = process.env;
    const files = [openSync(output, 'w'), openSync(log, 'w')] as const;
    const child = spawn('taskset', ['-c', `${SERVER_CORE}`, ...program.command], {
      cwd: folder,
      env: { PATH, ...program.environment },
      stdio: ['ignore', ...files],
    });
    for (const file of files) closeSync(file);
    running.add(child);
    child.once('exit', () => running.delete(child));
    const failed = new Promise<never>((_, reject) => child.once('error', reject));
    await Promise.race([once(child, 'spawn'), failed]);
    const until = performance.now() + (program.readyWithinMs ?? READY_WITHIN_MS);
    for (;;) {
      const [, port] = /listens on https:\/\/localhost:(\d+)/.exec(readFileSync(output, 'utf8')) ?? [];
      if (port && child.pid) return new ServerProcess(child, child.pid, Number(port));
      if (child.exitCode !== null || performance.now() > until) {
        child.kill('SIGKILL');
        throw new Error(`${program.command.join(' ')} did not start: ${readFileSync(log, 'utf8')}`);
      }
      await sleep(10);
    }
  }

  get processorTime(): number {
    return processorTime(this.pid);
  }

  get residentMemory(): number {
    return residentMemory(this.pid);
  }

  /** Kills the process if it has not ended in time. */
  async stop(withinMs: number): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), withinMs);
    await ended;
    clearTimeout(timer);
  }
}
