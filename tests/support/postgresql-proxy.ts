import type { Socket } from 'node:net';
import { sendHalf, TcpProxy } from './tcp-proxy.js';

/** What happens to a statement. The server does not execute it with the first three, and executes it with the others. */
const POSTGRESQL_FAULTS = [
  /** The connection is closed before the statement. */
  'unsent',
  /** The connection is closed in the middle of the statement. */
  'halved',
  /** The server ends the connection before the statement. */
  'terminated',
  /** The connection is closed before the reply. */
  'lost',
  /** The connection is closed in the middle of the reply. */
  'cut',
  /** The server ends the connection in the place of the reply. */
  'failed',
  /** The server ends the connection after the reply. */
  'answered',
  /** The reply comes after every time-out. */
  'late',
] as const;

export type PostgresqlFault = (typeof POSTGRESQL_FAULTS)[number];

/** Types of https://www.postgresql.org/docs/current/protocol-message-formats.html; those of one side differ from the other's. */
const TYPE = { parse: 'P', bind: 'B', query: 'Q', sync: 'S', keyData: 'K', ready: 'Z' } as const;
/** A type of one byte, and a length of four. */
const HEAD_BYTES = 5;

export interface PostgresqlProxyOptions {
  /** Returns the fault of a statement, by its text; undefined lets it pass. */
  choose(text: string): PostgresqlFault | undefined;
  /** Ends a connection on the server, and waits for its end. */
  terminate(pid: number): Promise<unknown>;
  /** The time after which a late reply is sent. */
  readonly lateMs: number;
}

/** A proxy before PostgreSQL that plays faults at chosen statements. It knows no TLS. */
export class PostgresqlProxy extends TcpProxy {
  /** How often each fault was played. */
  readonly played = Object.fromEntries(POSTGRESQL_FAULTS.map((fault) => [fault, 0])) as Record<PostgresqlFault, number>;

  /** @param port of the server */
  constructor(
    port: number,
    private readonly options: PostgresqlProxyOptions,
  ) {
    super({ port });
  }

  protected override forward(near: Socket, far: Socket): void {
    const texts = new Map<string, string>();
    let text = '';
    let pid = 0;
    const statement: Buffer[] = [];
    const reply: Buffer[] = [];
    /** Of the statement whose reply is awaited; the driver sends one at a time. */
    let fault: PostgresqlFault | undefined;
    let isAwaited = false;

    const send = (bytes: Buffer) => {
      isAwaited = true;
      far.write(bytes);
    };
    const playBefore = async (bytes: Buffer) => {
      if (fault) this.played[fault]++;
      if (fault === 'unsent') near.resetAndDestroy();
      else if (fault === 'halved') sendHalf(far, bytes);
      else {
        if (fault === 'terminated') await this.options.terminate(pid);
        send(bytes);
      }
    };
    const playAfter = async (bytes: Buffer) => {
      isAwaited = false;
      if (fault === 'lost') near.resetAndDestroy();
      else if (fault === 'cut') sendHalf(near, bytes);
      else if (fault === 'late') setTimeout(() => near.writable && near.write(bytes), this.options.lateMs);
      else if (fault === 'failed') await this.options.terminate(pid);
      else if (fault === 'answered') {
        // The error of the server follows in the same packet, before anybody can use the connection again.
        reply.push(bytes);
        isAwaited = true;
        await this.options.terminate(pid);
      } else near.write(bytes);
    };

    let hasStarted = false;
    onMessage(near, true, (message, type) => {
      // The first one has no type.
      if (!hasStarted) {
        hasStarted = true;
        far.write(message);
        return;
      }
      if (type === TYPE.parse) texts.set(textAt(message, 0), textAt(message, 1));
      if (type === TYPE.bind) text = texts.get(textAt(message, 1)) ?? '';
      if (type === TYPE.query) text = textAt(message, 0);
      statement.push(message);
      if (type !== TYPE.sync && type !== TYPE.query) return;
      fault = this.options.choose(text);
      void playBefore(Buffer.concat(statement.splice(0)));
    });
    onMessage(far, false, (message, type) => {
      if (type === TYPE.keyData) pid = message.readInt32BE(HEAD_BYTES);
      if (!isAwaited) {
        near.write(message);
        return;
      }
      reply.push(message);
      if (type === TYPE.ready) void playAfter(Buffer.concat(reply.splice(0)));
    });
    // The reason why the server ends the connection.
    far.on('close', () => near.writableEnded || near.end(Buffer.concat(reply), () => near.destroy()));
  }
}

/** The text number `at` of a message, each of which ends with a zero. */
function textAt(message: Buffer, at: number): string {
  return (
    message
      .subarray(HEAD_BYTES)
      .toString('utf8')
      .split('\0', at + 1)[at] ?? ''
  );
}

/** @param isClient whose first message has no type */
function onMessage(socket: Socket, isClient: boolean, handle: (message: Buffer, type: string) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  let lengthAt = isClient ? 0 : 1;
  socket.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= lengthAt + 4) {
      const end = lengthAt + rest.readInt32BE(lengthAt);
      if (rest.length < end) return;
      const message = rest.subarray(0, end);
      rest = rest.subarray(end);
      lengthAt = 1;
      handle(message, String.fromCharCode(message[0] ?? 0));
    }
  });
}

/** What a statement asks for and of what, such as `insert products`; undefined if it is about no table. */
export function callIn(text: string): string | undefined {
  const [, verb = '', table] =
    /\b(INSERT INTO|UPDATE|DELETE FROM) (\w+)/.exec(text) ?? /\b(FROM) (\w+)/.exec(text) ?? [];
  const name = { 'INSERT INTO': 'insert', UPDATE: 'update', 'DELETE FROM': 'delete' }[verb] ?? 'find';
  return table === undefined ? undefined : `${name} ${table}`;
}
