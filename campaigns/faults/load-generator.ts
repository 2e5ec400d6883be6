import { execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** A request with the API key that it sends. */
export interface LoadRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly token: string;
}

/** What the generator measured in one phase; `campaigns/faults/load/main.go` describes the members. */
export interface LoadPhase {
  readonly rate: string;
  readonly seconds: number;
  readonly due: number;
  readonly unsent: number;
  readonly ok: number;
  readonly refused: number;
  readonly broken: number;
  readonly awaited: number;
  readonly other: Readonly<Record<string, number>>;
  readonly p99: number;
  readonly refusedP50: number;
  readonly okByTenth: readonly number[];
  readonly dueByTenth: readonly number[];
}

/** The program that sends requests at a constant rate. Needs Go. */
export class LoadGenerator {
  private constructor(
    private readonly folder: string,
    private readonly program: string,
  ) {}

  /** @throws Error if Go is missing */
  static async build(folder: string): Promise<LoadGenerator> {
    const program = join(folder, 'load');
    try {
      await promisify(execFile)('go', ['build', '-o', program, resolve('campaigns/faults/load/main.go')]);
    } catch (error) {
      throw new Error('Go builds the generator of load: install golang-go', { cause: error });
    }
    return new LoadGenerator(folder, program);
  }

  async run(
    port: number,
    authorityFile: string,
    requests: readonly LoadRequest[],
    { connections, phases }: { readonly connections: number; readonly phases: string },
  ): Promise<LoadPhase[]> {
    const file = join(this.folder, 'requests.json');
    writeFileSync(file, JSON.stringify(requests));
    const args = ['-port', `${port}`, '-ca', authorityFile, '-requests', file];
    const child = spawn(this.program, [...args, '-connections', `${connections}`, '-phases', phases], {
      // One thread, so that the service keeps a core.
      env: { ...process.env, GOMAXPROCS: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // The probes of this process share a core with it.
    if (child.pid) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    let [out, log] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
    const code = await new Promise((done) => child.once('close', done));
    if (code !== 0) throw new Error(`the generator of load ended with ${code}: ${log}`);
    return JSON.parse(out) as LoadPhase[];
  }
}
