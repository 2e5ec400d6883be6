import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from './free-port.js';

const FOLDER = resolve('tests/support/mongo-server');

/** The stand-in for MongoDB in a process of its own, which tests suspend, kill and restart on the same file. */
export class MongoProcess {
  private child: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    private readonly file: string,
  ) {}

  /** Reserves a port; `run` starts the server. @param folder of its file */
  static async onFreePort(folder: string): Promise<MongoProcess> {
    return new MongoProcess(await freePort(), join(folder, 'mongo.h2'));
  }

  url(database: string): string {
    return `mongodb://127.0.0.1:${this.port}/${database}?replicaSet=rs0`;
  }

  /**
   * Starts the server on its port and waits until it listens.
   * @throws Error that names the command to run if Java or the packages of the stand-in are missing
   */
  async run(): Promise<void> {
    const program = [
      '-cp',
      join(FOLDER, 'lib/*'),
      join(FOLDER, 'MongoServer.java'),
      `${this.port}`,
      this.file,
    ];
    const child = spawn('java', program, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    await new Promise<void>((done, reject) => {
      let output = '';
      const fail = (reason: string) => reject(new Error(`${reason}\n${output}`));
      child.once('error', () => fail('java is missing; the stand-in for MongoDB needs Java 17'));
      child.once('exit', () =>
        fail(
          hasPackages()
            ? 'the stand-in for MongoDB did not start:'
            : `its packages are missing: run "mvn dependency:copy-dependencies" in ${FOLDER}`,
        ),
      );
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (chunk) => {
          output += chunk;
          if (/^ready on/m.test(output)) done();
        });
    });
  }

  /** Suspends the server: it no longer responds, but its connections stay open. */
  hang(): void {
    this.child?.kill('SIGSTOP');
  }

  resume(): void {
    this.child?.kill('SIGCONT');
  }

  /** Ends the server as a crash does. Its file keeps every write that it acknowledged. */
  async kill(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

function hasPackages(): boolean {
  try {
    return readdirSync(join(FOLDER, 'lib')).length > 0;
  } catch {
    return false;
  }
}
