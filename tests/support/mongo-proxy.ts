import type { Socket } from 'node:net';
import type { Document } from 'mongodb';
import { documentIn, idOf, isQuery, nameOf, onMessage, repliesTo, replyTo } from './mongo-wire.js';
import { sendHalf, TcpProxy } from './tcp-proxy.js';

/** What happens to a command. The server does not execute it with the first three, and executes it with the others. */
const MONGO_FAULTS = [
  /** The connection is closed before the command. */
  'unsent',
  /** The connection is closed in the middle of the command. */
  'halved',
  /** An error of a primary that steps down is sent instead. */
  'refused',
  /** The connection is closed before the reply. */
  'lost',
  /** The connection is closed in the middle of the reply. */
  'cut',
  /** An error of a primary that steps down is sent instead of the reply. */
  'failed',
  /** The reply comes after every time-out. */
  'late',
  /** The reply is sent twice at once. */
  'doubled',
  /** The reply says that no majority has confirmed the write in time. */
  'unconfirmed',
] as const;

export type MongoFault = (typeof MONGO_FAULTS)[number];

/** A longer reply and its copy may arrive in several pieces, and the driver drops a copy only within one. */
const LONGEST_DOUBLED_BYTES = 8_192;

type Choice = (command: Document) => MongoFault | undefined | Promise<MongoFault | undefined>;

/** A command whose reply has a fault. */
interface Faulty {
  readonly fault: MongoFault;
  readonly message: Buffer;
}

/** A proxy before MongoDB that plays faults at chosen commands. */
export class MongoProxy extends TcpProxy {
  /** How often each fault was played. */
  readonly played = Object.fromEntries(MONGO_FAULTS.map((fault) => [fault, 0])) as Record<MongoFault, number>;

  /**
   * @param port of the server
   * @param choose returns the fault of a command; undefined lets it pass. Until a promise is resolved, the command waits
   * @param lateMs the time after which a late reply is sent
   */
  constructor(
    port: number,
    private readonly choose: Choice,
    private readonly lateMs = 0,
  ) {
    super({ port });
  }

  protected override forward(near: Socket, far: Socket): void {
    const faulty = new Map<number, Faulty>();
    // A connection has one command at a time.
    onMessage(near, async (message) => {
      const fault = isQuery(message) ? undefined : await this.choose(documentIn(message));
      if (fault === 'unsent' || fault === 'halved' || fault === 'refused') this.playBefore(fault, message, near, far);
      else {
        if (fault) faulty.set(idOf(message), { fault, message });
        far.write(message);
      }
    });
    onMessage(far, (reply) => {
      const command = faulty.get(repliesTo(reply));
      faulty.delete(repliesTo(reply));
      if (command) this.playAfter(command, reply, near);
      else near.write(reply);
    });
  }

  private playBefore(fault: 'unsent' | 'halved' | 'refused', message: Buffer, near: Socket, far: Socket): void {
    this.played[fault]++;
    switch (fault) {
      case 'unsent':
        near.resetAndDestroy();
        break;
      case 'halved':
        sendHalf(far, message);
        near.destroy();
        break;
      default:
        near.write(steppedDown(message));
    }
  }

  private playAfter({ fault, message }: Faulty, reply: Buffer, near: Socket): void {
    this.played[fault]++;
    switch (fault) {
      case 'lost':
        near.resetAndDestroy();
        break;
      case 'cut':
        sendHalf(near, reply);
        break;
      case 'failed':
        near.write(steppedDown(message));
        break;
      case 'late':
        setTimeout(() => near.writable && near.write(reply), this.lateMs);
        break;
      case 'doubled':
        near.write(reply.length > LONGEST_DOUBLED_BYTES ? reply : Buffer.concat([reply, reply]));
        break;
      default: {
        const writeConcernError = { code: 64, errmsg: 'waiting for replication timed out' };
        near.write(replyTo(message, { ...documentIn(reply), writeConcernError }));
      }
    }
  }
}

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
    return new Promise((arrive) => {
      this.arrive = arrive;
    });
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
    const opened = new Promise<void>((open) => {
      this.open = open;
    });
    this.arrive();
    await opened;
  }
}
