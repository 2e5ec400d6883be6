import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { BSON, type Document } from 'mongodb';

/** The message types of https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/ that the driver sends. */
const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER_BYTES = 16;

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
  constructor(
    private readonly script: (name: string, command: Document) => Scripted | undefined = () => undefined,
  ) {}

  /** Starts to listen. @returns the host and port */
  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    this.address = `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
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
    let received = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length >= HEADER_BYTES && received.readInt32LE(0) > this.maxBytes)
        socket.resetAndDestroy();
      while (received.length >= HEADER_BYTES && received.length >= received.readInt32LE(0)) {
        const message = received.subarray(0, received.readInt32LE(0));
        received = received.subarray(message.length);
        this.respond(socket, message);
      }
    });
  }

  private async respond(socket: Socket, message: Buffer): Promise<void> {
    const [requestId, opcode] = [message.readInt32LE(4), message.readInt32LE(12)];
    const command = opcode === OP_QUERY ? queryIn(message) : commandIn(message);
    this.commands.push(command);
    const name = nameOf(command);
    const scripted = await (this.script(name, command) ?? this.defaultResponse(name, command));
    if (scripted === 'silence') return;
    if (scripted === 'reset') {
      socket.resetAndDestroy();
      return;
    }
    const body = BSON.serialize({ ok: 1, ...scripted });
    socket.write(opcode === OP_QUERY ? replyTo(requestId, body) : messageTo(requestId, body));
  }

  private defaultResponse(name: string, command: Document): Document {
    const cursor = (firstBatch: Document[]) => ({ cursor: { id: 0n, ns: 'x.y', firstBatch } });
    switch (name) {
      case 'hello':
      case 'ismaster':
        return memberAt(this.address);
      case 'listIndexes':
        return { ok: 0, code: 26, codeName: 'NamespaceNotFound', errmsg: 'ns does not exist' };
      case 'find':
      case 'aggregate':
        return cursor([]);
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

function nameOf(command: Document): string {
  return Object.keys(command)[0] ?? '';
}

/** Returns the body of an OP_MSG, with its document sequences as members. */
function commandIn(message: Buffer): Document {
  const command: Document = {};
  for (let offset = HEADER_BYTES + 4; offset < message.length; ) {
    const isSequence = message[offset] === 1;
    offset += 1;
    const end = offset + message.readInt32LE(offset);
    if (isSequence) {
      const endOfName = message.indexOf(0, offset + 4);
      const documents: Document[] = [];
      for (let from = endOfName + 1; from < end; from += message.readInt32LE(from))
        documents.push(documentAt(message, from));
      command[message.toString('utf8', offset + 4, endOfName)] = documents;
    } else Object.assign(command, documentAt(message, offset));
    offset = end;
  }
  // A sequence may come before the body, whose first member is the name.
  const { $db, ...rest } = command;
  return { ...rest, $db };
}

function queryIn(message: Buffer): Document {
  const endOfCollection = message.indexOf(0, HEADER_BYTES + 4);
  return documentAt(message, endOfCollection + 9);
}

function documentAt(message: Buffer, offset: number): Document {
  return BSON.deserialize(message.subarray(offset, offset + message.readInt32LE(offset)), {
    useBigInt64: false,
  });
}

function replyTo(requestId: number, body: Uint8Array): Buffer {
  const fields = Buffer.alloc(20);
  fields.writeInt32LE(8, 0);
  fields.writeInt32LE(1, 16);
  return frame(OP_REPLY, requestId, [fields, body]);
}

function messageTo(requestId: number, body: Uint8Array): Buffer {
  return frame(OP_MSG, requestId, [Buffer.alloc(5), body]);
}

function frame(opcode: number, responseTo: number, parts: readonly Uint8Array[]): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  const all = Buffer.concat([header, ...parts]);
  all.writeInt32LE(all.length, 0);
  all.writeInt32LE(responseTo, 8);
  all.writeInt32LE(opcode, 12);
  return all;
}
