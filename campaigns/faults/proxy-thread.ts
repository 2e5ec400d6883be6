import { once } from 'node:events';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { type Fault, TcpProxy } from '../../tests/support/tcp-proxy.js';

interface ProxyState {
  readonly fault?: Fault;
  /** The delay in each direction, in milliseconds. */
  readonly delayMs?: number;
  /** The port of later connections. */
  readonly target?: number;
}

/** A {@link TcpProxy} in a thread of its own, so that a busy test does not delay it. */
export class ProxyThread {
  private readonly worker = new Worker(new URL(import.meta.url));

  /** Starts to listen. @returns the port, the same after each cut */
  async listen(target: number): Promise<number> {
    return this.ask({ target });
  }

  /** Resolves when the change is in effect. */
  async set(state: ProxyState): Promise<void> {
    await this.ask(state);
  }

  async close(): Promise<void> {
    await this.worker.terminate();
  }

  private async ask(state: ProxyState): Promise<number> {
    this.worker.postMessage(state);
    const [port] = await once(this.worker, 'message');
    return port;
  }
}

if (!isMainThread && parentPort) {
  const parent = parentPort;
  const server = { host: '127.0.0.1', port: 0 };
  const proxy = new TcpProxy(server);
  const listening = proxy.listen();
  parent.on('message', async ({ fault, delayMs, target }: ProxyState) => {
    const port = await listening;
    if (target !== undefined) server.port = target;
    if (delayMs !== undefined) proxy.delayMs = delayMs;
    if (fault !== undefined) await proxy.set(fault);
    parent.postMessage(port);
  });
}
