import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { until } from '../support/until.js';

const LIMIT_MS = 600_000;
/** Before a prompt, bash prints the last exit code between control characters. */
const PROMPT = { PROMPT_COMMAND: "printf '\\001%d\\001' $?" };
const DONE = /\x01(\d+)\x01/;

/** The exit code of the last command, and everything that the terminal showed. */
export interface Result {
  readonly code: number;
  readonly output: string;
}

/**
 * An interactive bash on a pseudo-terminal without echo, prompt, and programs that redraw a line. `script` of util-linux
 * makes the terminal.
 */
export class Terminal {
  private raw = '';
  private readonly child: ChildProcess;
  private readonly ended: Promise<unknown>;

  private constructor(folder: string, environment: NodeJS.ProcessEnv) {
    const bash = 'bash --noprofile --norc --noediting -i';
    const env = { ...environment, ...PROMPT, TERM: 'dumb', HISTFILE: '' };
    this.child = spawn('script', ['--quiet', '--flush', '--return', '--command', bash, '/dev/null'], {
      cwd: folder,
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.ended = once(this.child, 'close');
    this.child.stdout?.setEncoding('utf8').on('data', (chunk) => (this.raw += chunk));
  }

  /** Opens a terminal in a folder. @throws Error if bash or `script` is missing */
  static async open(folder: string, environment: NodeJS.ProcessEnv): Promise<Terminal> {
    const terminal = new Terminal(folder, environment);
    await once(terminal.child, 'spawn');
    await terminal.end();
    // An interactive bash replaces the prompt of its environment, so it gets the empty one here. What it printed after
    // the exit code might be read later, as a part of the next output.
    await terminal.run('stty -echo; PS1= PS2=');
    return terminal;
  }

  /** What the terminal shows since the last command began, with plain line ends and without colours. */
  get output(): string {
    return stripVTControlCharacters(this.raw)
      .replace(/\x01.*/s, '')
      .replaceAll(/\r+\n/g, '\n');
  }

  /** Pastes commands and waits until the last one has ended. */
  async run(commands: string): Promise<Result> {
    this.start(commands);
    return this.end();
  }

  /** Pastes commands without waiting for them. The shell reads all of them before it runs the first. */
  start(commands: string): void {
    this.raw = '';
    this.child.stdin?.write(`{\n${commands}\n}\n`);
  }

  /** Waits until the terminal shows a text. @throws Error if the commands end without it */
  async shows(pattern: RegExp): Promise<RegExpExecArray> {
    await this.until(() => pattern.test(this.output) || DONE.test(this.raw));
    const match = pattern.exec(this.output);
    if (!match) throw new Error(`the commands ended without ${pattern}:\n${this.output}`);
    return match;
  }

  /** Presses Ctrl-C, and waits until the command has ended. */
  async interrupt(): Promise<Result> {
    this.child.stdin?.write('\x03');
    return this.end();
  }

  /** Interrupts what runs, leaves the shell, and waits until it has ended. */
  async close(): Promise<void> {
    if (!DONE.test(this.raw)) await this.interrupt();
    this.child.stdin?.write('exit\n');
    await this.ended;
  }

  private async end(): Promise<Result> {
    await this.until(() => DONE.test(this.raw));
    return { code: Number(DONE.exec(this.raw)?.[1]), output: this.output };
  }

  private async until(check: () => boolean): Promise<void> {
    const ended = this.ended.then(() => {
      throw new Error('bash ended');
    });
    await Promise.race([until('the terminal', check, LIMIT_MS), ended]).catch((error) => {
      throw new Error(`${error}; the terminal shows:\n${this.output}`);
    });
  }
}
