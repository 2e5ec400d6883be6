import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { kill, ready } from './child-programs.js';
import { freePort } from './free-port.js';

/** A Redis server that tests stop, kill and restart. It persists nothing. */
export class RedisServer {
  private child: ChildProcess | undefined;

  private constructor(readonly port: number) {}

  /** Reserves a port; `run` starts the server. */
  static async onFreePort(): Promise<RedisServer> {
    return new RedisServer(await freePort());
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /**
   * Starts the server on its port and waits until it listens.
   * @throws Error that names the package to install if there is no redis-server
   */
  async run(): Promise<void> {
    const options = ['--port', `${this.port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    this.child = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'ignore'] });
    await ready(this.child, /Ready to accept connections/);
  }

  /** Sends one command over a connection of its own. @returns the reply as it was received */
  async command(...words: readonly string[]): Promise<string> {
    const socket = connect(this.port, '127.0.0.1');
    socket.write(`*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`);
    const [reply] = await once(socket, 'data');
    socket.destroy();
    return String(reply);
  }

  /** Suspends the server: it no longer responds, but its connections stay open. */
  hang(): void {
    this.child?.kill('SIGSTOP');
  }

  resume(): void {
    this.child?.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    await kill(this.child);
  }
}
