import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { kill, ready } from './child-programs.js';

const FOLDER = resolve('tests/support/mongo-server');
const SOURCE = join(FOLDER, 'MongoServer.java');
const PACKAGES = join(FOLDER, 'lib/*');
/** Most runs are too short for the second compiler and parallel collections to pay. */
const FLAGS = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
const CLASSES = resolve('build/mongo-server');

/** The stand-in for MongoDB in a process of its own, which tests suspend, kill and restart on the same file. */
export class MongoProcess {
  private child: ChildProcess | undefined;
  /** Chosen by the system at the first start. The server keeps it. */
  port = 0;

  private constructor(private readonly file: string) {}

  /** Prepares a server; `run` starts it. @param folder of its file */
  static async onFreePort(folder: string): Promise<MongoProcess> {
    return new MongoProcess(join(folder, 'mongo.h2'));
  }

  url(database: string): string {
    return `mongodb://127.0.0.1:${this.port}/${database}?replicaSet=rs0`;
  }

  /**
   * Starts the server on its port and waits until it listens.
   * @throws Error that names the command to run if Java or the packages of the stand-in are missing
   */
  async run(): Promise<void> {
    const program = [...FLAGS, '-cp', `${PACKAGES}:${await compiled()}`, 'MongoServer', `${this.port}`, this.file];
    const child = spawn('java', program, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    const [, port] = await ready(child, /^ready on .*:(\d+)$/m);
    this.port = Number(port);
  }

  /** Lets this process end although the server runs, which then ends too. @param cleanUp is called at last */
  endWithThisProcess(cleanUp: () => void): void {
    const { child } = this;
    for (const part of [child, child?.stdout, child?.stderr] as (Pick<ChildProcess, 'unref'> | undefined)[])
      part?.unref();
    process.once('exit', () => {
      child?.kill('SIGKILL');
      cleanUp();
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
    await kill(this.child);
  }
}

/**
 * Returns the folder of the compiled stand-in. It is compiled once for each version of its source: a start that
 * compiles takes five times as much CPU time.
 */
async function compiled(): Promise<string> {
  const version = createHash('sha256').update(readFileSync(SOURCE)).digest('hex').slice(0, 8);
  const classes = join(CLASSES, version);
  if (existsSync(classes)) return classes;
  if (!hasPackages())
    throw new Error(`the stand-in for MongoDB lacks its packages: run "mvn dependency:copy-dependencies" in ${FOLDER}`);
  mkdirSync(CLASSES, { recursive: true });
  const unfinished = mkdtempSync(join(CLASSES, 'unfinished-'));
  await promisify(execFile)('javac', ['-cp', PACKAGES, '-d', unfinished, SOURCE]).catch((error) => {
    throw new Error(`the stand-in for MongoDB needs the compiler of Java 17: ${error}`);
  });
  try {
    renameSync(unfinished, classes);
  } catch (error) {
    // Another process may have been faster.
    if (!existsSync(classes)) throw error;
    rmSync(unfinished, { recursive: true });
  }
  return classes;
}

function hasPackages(): boolean {
  try {
    return readdirSync(join(FOLDER, 'lib')).length > 0;
  } catch {
    return false;
  }
}
