import { createServer, type Socket } from 'node:net';
import type { Document } from 'mongodb';
import { listen } from '#src/process/listen.js';
import { documentIn, nameOf, onMessage, replyTo } from './mongo-wire.js';

/** The response to a command: a document, none at all, or a reset of the connection. */
export type Scripted = Document | 'silence' | 'reset' | Promise<Document>;

/**
 * A server that speaks MongoDB's wire protocol, stores no data, and responds by a script. It is a replica set of one
 * member unless the script says otherwise. It records all commands.
 */
export class ScriptedMongo {
  readonly commands: Document[] = [];
  /** The server resets the connection in the middle of a message that is longer than this. */
  maxBytes = Number.POSITIVE_INFINITY;
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((socket) => this.serve(socket));
  private address = '';

  /** @param script returns the response to a command; undefined lets the command succeed and find nothing */
  constructor(private readonly script: (name: string, command: Document) => Scripted | undefined = () => undefined) {}

  /** Starts to listen. @returns the host and port */
  async start(): Promise<string> {
    this.address = `127.0.0.1:${await listen(this.server, '127.0.0.1', 0)}`;
    return this.address;
  }

  /** Closes all connections. New ones are served. */
  disconnect(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.disconnect();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Returns the received commands with this name, in order. */
  commandsNamed(name: string): Document[] {
    return this.commands.filter((command) => nameOf(command) === name);
  }

  private serve(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.sockets.delete(socket));
    onMessage(
      socket,
      (message) => this.respond(socket, message),
      (bytes) => {
        if (bytes > this.maxBytes) socket.resetAndDestroy();
      },
    );
  }

  private async respond(socket: Socket, message: Buffer): Promise<void> {
    const command = documentIn(message);
    this.commands.push(command);
    const name = nameOf(command);
    const scripted = await (this.script(name, command) ?? this.defaultResponse(name, command));
    if (scripted === 'silence') return;
    if (scripted === 'reset') {
      socket.resetAndDestroy();
      return;
    }
    socket.write(replyTo(message, { ok: 1, ...scripted }));
  }

  private defaultResponse(name: string, command: Document): Document {
    switch (name) {
      case 'hello':
      case 'ismaster':
        return memberAt(this.address);
      case 'listIndexes':
        return { ok: 0, code: 26, codeName: 'NamespaceNotFound', errmsg: 'ns does not exist' };
      case 'find':
      case 'aggregate':
        return batchOf([]);
      case 'insert':
        return { n: command['documents'].length };
      case 'update':
      case 'delete':
        return { n: 1, nModified: 1 };
      case 'findAndModify':
        return { value: { _id: 'x', reserved: 32 }, lastErrorObject: { n: 1, updatedExisting: true } };
      default:
        return {};
    }
  }
}

/** The response with all that a query finds. */
export function batchOf(firstBatch: readonly Document[]): Document {
  return { cursor: { id: 0n, ns: 'x.y', firstBatch } };
}

function memberAt(address: string): Document {
  return {
    helloOk: true,
    ismaster: true,
    isWritablePrimary: true,
    setName: 'rs0',
    setVersion: 1,
    hosts: [address],
    me: address,
    primary: address,
    minWireVersion: 0,
    maxWireVersion: 21,
    maxBsonObjectSize: 16 * 1024 * 1024,
    maxMessageSizeBytes: 48_000_000,
    maxWriteBatchSize: 100_000,
    logicalSessionTimeoutMinutes: 30,
  };
}
