import type { Document } from 'mongodb';
import { MongoProxy, targetOf } from './mongo-proxy.js';

/** Stops one process before a command of its choice, as if the process was suspended. Others go to the server directly. */
export class MongoGate {
  private left = 0;
  private target = '';
  private arrive: () => void = () => {};
  private open: () => void = () => {};
  private proxy: MongoProxy | undefined;

  /** @param port of the server */
  static async before(port: number): Promise<MongoGate> {
    const gate = new MongoGate();
    gate.proxy = await MongoProxy.before(port, (command) => gate.pass(command));
    return gate;
  }

  get port(): number {
    return this.proxy?.port ?? 0;
  }

  /**
   * Suspends the process before a command.
   * @param target such as `insert products_changes`
   * @param occurrence 1 for the next such command
   * @returns when the command has arrived, which the server does not get before {@link resume}
   */
  suspendBefore(target: string, occurrence: number): Promise<void> {
    this.target = target;
    this.left = occurrence;
    return new Promise((arrive) => {
      this.arrive = arrive;
    });
  }

  resume(): void {
    this.open();
  }

  async close(): Promise<void> {
    this.resume();
    await this.proxy?.close();
  }

  private async pass(command: Document): Promise<undefined> {
    if (targetOf(command) !== this.target || --this.left !== 0) return;
    const opened = new Promise<void>((open) => {
      this.open = open;
    });
    this.arrive();
    await opened;
  }
}
