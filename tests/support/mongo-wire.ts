import type { Socket } from 'node:net';
import { BSON, type Document } from 'mongodb';

/** The message types of https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/ that the driver uses. */
const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER_BYTES = 16;

/**
 * Calls `take` with each complete message.
 * @param begin called with the length of a message that has begun to arrive
 */
export function onMessage(
  socket: Socket,
  take: (message: Buffer) => unknown,
  begin: (bytes: number) => void = () => {},
): void {
  let received = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= HEADER_BYTES && !socket.destroyed) {
      const length = received.readInt32LE(0);
      begin(length);
      if (received.length < length) return;
      const message = received.subarray(0, length);
      received = received.subarray(length);
      take(message);
    }
  });
}

export function idOf(message: Buffer): number {
  return message.readInt32LE(4);
}

/** Returns the id of the message that this one replies to. */
export function repliesTo(message: Buffer): number {
  return message.readInt32LE(8);
}

/** Whether a message is the first one of a connection, which the driver sends in a type of its own. */
export function isQuery(message: Buffer): boolean {
  return message.readInt32LE(12) === OP_QUERY;
}

/** Returns the document of a message, with its document sequences as members. The name of a command comes first. */
export function documentIn(message: Buffer): Document {
  if (isQuery(message)) return documentAt(message, message.indexOf(0, HEADER_BYTES + 4) + 9);
  const document: Document = {};
  for (let offset = HEADER_BYTES + 4; offset < message.length; ) {
    const isSequence = message[offset] === 1;
    offset += 1;
    const end = offset + message.readInt32LE(offset);
    if (isSequence) {
      const endOfName = message.indexOf(0, offset + 4);
      const documents: Document[] = [];
      for (let from = endOfName + 1; from < end; from += message.readInt32LE(from))
        documents.push(documentAt(message, from));
      document[message.toString('utf8', offset + 4, endOfName)] = documents;
    } else Object.assign(document, documentAt(message, offset));
    offset = end;
  }
  // A sequence may come before the body, whose first member is the name.
  const { $db, ...rest } = document;
  return { ...rest, $db };
}

export function nameOf(command: Document): string {
  return Object.keys(command)[0] ?? '';
}

/** Returns the message that replies to a command. */
export function replyTo(command: Buffer, document: Document): Buffer {
  const body = BSON.serialize(document);
  if (!isQuery(command)) return frame(OP_MSG, idOf(command), [Buffer.alloc(5), body]);
  const fields = Buffer.alloc(20);
  fields.writeInt32LE(8, 0);
  fields.writeInt32LE(1, 16);
  return frame(OP_REPLY, idOf(command), [fields, body]);
}

function documentAt(message: Buffer, offset: number): Document {
  return BSON.deserialize(message.subarray(offset, offset + message.readInt32LE(offset)), { useBigInt64: false });
}

function frame(opcode: number, responseTo: number, parts: readonly Uint8Array[]): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  const all = Buffer.concat([header, ...parts]);
  all.writeInt32LE(all.length, 0);
  all.writeInt32LE(responseTo, 8);
  all.writeInt32LE(opcode, 12);
  return all;
}
