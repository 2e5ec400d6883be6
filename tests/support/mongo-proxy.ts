import type { Socket } from 'node:net';
import type { Document } from 'mongodb';
import { documentIn, idOf, isQuery, nameOf, onMessage, repliesTo, replyTo } from './mongo-wire.js';
import { BROKEN_CALLS, type Faults, FaultyProxy } from './tcp-proxy.js';

/** A longer reply and its copy may arrive in several pieces, and the driver drops a copy only within one. */
const LONGEST_DOUBLED_BYTES = 8_192;

type Choice = (command: Document) => string | undefined | Promise<string | undefined>;

/** The server does not execute these commands. */
const BEFORE: Faults = { ...BROKEN_CALLS, refused: ({ near, message }) => near.write(steppedDown(message)) };

/** In the place of the reply. */
const AFTER: Faults = {
  failed: ({ near, message }) => near.write(steppedDown(message)),
  doubled: ({ near }, reply) =>
    near.write(reply.length > LONGEST_DOUBLED_BYTES ? reply : Buffer.concat([reply, reply])),
  /** The reply says that no majority has confirmed the write in time. */
  unconfirmed: ({ near, message }, reply) => {
    const writeConcernError = { code: 64, errmsg: 'waiting for replication timed out' };
    near.write(replyTo(message, { ...documentIn(reply), writeConcernError }));
  },
};

/** A proxy before MongoDB. */
export class MongoProxy extends FaultyProxy {
  /** @param choose returns the fault of a command; undefined lets it pass. Until a promise is resolved, the command waits */
  constructor(
    port: number,
    private readonly choose: Choice,
    lateMs?: number,
  ) {
    super(port, lateMs);
  }

  protected override forward(near: Socket, far: Socket): void {
    const faulty = new Map<number, readonly [fault: string, message: Buffer]>();
    // A connection has one command at a time.
    onMessage(near, async (message) => {
      const fault = isQuery(message) ? undefined : await this.choose(documentIn(message));
      if (fault && fault in BEFORE) return this.play(BEFORE, fault, { near, far, message });
      if (fault) faulty.set(idOf(message), [fault, message]);
      far.write(message);
    });
    onMessage(far, (reply) => {
      const command = faulty.get(repliesTo(reply));
      if (!command) return near.write(reply);
      faulty.delete(repliesTo(reply));
      const [fault, message] = command;
      return this.play({ ...AFTER, ...this.brokenReplies }, fault, { near, far, message }, reply);
    });
  }
}

/** The error of a primary that steps down. */
function steppedDown(message: Buffer): Buffer {
  const error = { ok: 0, code: 11_602, codeName: 'InterruptedDueToReplStateChange', errmsg: 'stepped down' };
  // A server labels the errors of those writes that it can recognize when they are sent again.
  const isRetryable = documentIn(message)['txnNumber'] !== undefined;
  return replyTo(message, { ...error, ...(isRetryable && { errorLabels: ['RetryableWriteError'] }) });
}

/** The name and the collection of a command, such as `insert products`. */
export function targetOf(command: Document): string {
  const name = nameOf(command);
  return `${name} ${name === 'getMore' ? command['collection'] : command[name]}`;
}

/** Stops one process before a command of its choice, as if the process was suspended. Others go to the server directly. */
export class MongoGate {
  readonly proxy: MongoProxy;
  private left = 0;
  private target = '';
  private arrive: () => void = () => {};
  private open: () => void = () => {};

  /** @param port of the server */
  constructor(port: number) {
    this.proxy = new MongoProxy(port, (command) => this.pass(command));
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
    return new Promise((arrive) => (this.arrive = arrive));
  }

  resume(): void {
    this.open();
  }

  async close(): Promise<void> {
    this.resume();
    await this.proxy.close();
  }

  private async pass(command: Document): Promise<undefined> {
    if (targetOf(command) !== this.target || --this.left !== 0) return;
    const opened = new Promise<void>((open) => (this.open = open));
    this.arrive();
    await opened;
  }
}
