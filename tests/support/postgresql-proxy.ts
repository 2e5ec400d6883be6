import type { Socket } from 'node:net';
import { BROKEN_CALLS, type Faults, FaultyProxy } from './tcp-proxy.js';

/** Types of https://www.postgresql.org/docs/current/protocol-message-formats.html; those of one side differ from the other's. */
const TYPE = { parse: 'P', bind: 'B', query: 'Q', sync: 'S', keyData: 'K', ready: 'Z' } as const;
/** A type of one byte, and a length of four. */
const HEAD_BYTES = 5;

export interface PostgresqlProxyOptions {
  /** Returns the fault of a statement, by its text; undefined lets it pass. */
  choose(text: string): string | undefined;
  /** Ends a connection on the server, and waits for its end. */
  terminate(pid: number): Promise<unknown>;
  readonly lateMs: number;
}

/** A proxy before PostgreSQL, which knows no TLS. */
export class PostgresqlProxy extends FaultyProxy {
  constructor(
    port: number,
    private readonly options: PostgresqlProxyOptions,
  ) {
    super(port, options.lateMs);
  }

  protected override forward(near: Socket, far: Socket): void {
    const texts = new Map<string, string>();
    let text = '';
    let pid = 0;
    const statement: Buffer[] = [];
    const reply: Buffer[] = [];
    /** Of the statement whose reply is awaited; the driver sends one at a time. */
    let fault: string | undefined;
    let isAwaited = false;

    const send = (message: Buffer) => {
      isAwaited = true;
      far.write(message);
    };
    const before: Faults = {
      ...BROKEN_CALLS,
      /** The server ends the connection before the statement. */
      terminated: async ({ message }) => {
        await this.options.terminate(pid);
        send(message);
      },
    };
    const after: Faults = {
      ...this.brokenReplies,
      /** The server ends the connection in the place of the reply. */
      failed: () => this.options.terminate(pid),
      /** The error of the server follows the reply in the same packet, before anybody can use the connection again. */
      answered: (_call, bytes) => {
        reply.push(bytes);
        isAwaited = true;
        return this.options.terminate(pid);
      },
    };

    let hasStarted = false;
    onMessage(near, true, (part, type) => {
      // The first one has no type.
      if (!hasStarted) {
        hasStarted = true;
        far.write(part);
        return;
      }
      if (type === TYPE.parse) texts.set(textAt(part, 0), textAt(part, 1));
      if (type === TYPE.bind) text = texts.get(textAt(part, 1)) ?? '';
      if (type === TYPE.query) text = textAt(part, 0);
      statement.push(part);
      if (type !== TYPE.sync && type !== TYPE.query) return;
      fault = this.options.choose(text);
      const message = Buffer.concat(statement.splice(0));
      if (fault && fault in before) this.play(before, fault, { near, far, message });
      else send(message);
    });
    onMessage(far, false, (part, type) => {
      if (type === TYPE.keyData) pid = part.readInt32BE(HEAD_BYTES);
      if (!isAwaited) {
        near.write(part);
        return;
      }
      reply.push(part);
      if (type !== TYPE.ready) return;
      isAwaited = false;
      const bytes = Buffer.concat(reply.splice(0));
      if (fault && fault in after) this.play(after, fault, { near, far, message: bytes }, bytes);
      else near.write(bytes);
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
