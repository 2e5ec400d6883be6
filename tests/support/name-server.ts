import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

const TYPE_A = 1;
const CLASS_IN = 1;
const HEADER_BYTES = 12;

/** A DNS server (RFC 1035) that knows one name, as Docker's knows a service: to any question its IPv4 addresses. */
export class NameServer {
  private readonly socket = createSocket('udp4');

  /** @param addresses asked for anew at each question */
  constructor(addresses: () => readonly string[]) {
    this.socket.on('message', (question, { port, address }) => {
      this.socket.send(answerTo(question, addresses()), port, address);
    });
  }

  /** @returns the address that it listens on */
  async start(): Promise<string> {
    this.socket.bind(0, '127.0.0.1');
    await once(this.socket, 'listening');
    return `127.0.0.1:${(this.socket.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.socket.close();
  }
}

function answerTo(question: Buffer, addresses: readonly string[]): Buffer {
  const endOfName = question.indexOf(0, HEADER_BYTES) + 1;
  const asked = question.subarray(HEADER_BYTES, endOfName + 4);
  const answers = question.readUInt16BE(endOfName) === TYPE_A ? addresses : [];
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(question.readUInt16BE(0), 0);
  header.writeUInt16BE(0x8580, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers.length, 6);
  return Buffer.concat([header, asked, ...answers.map(record)]);
}

function record(address: string): Buffer {
  const bytes = Buffer.alloc(16);
  // The name is the one that was asked for, at the question's place.
  bytes.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  bytes.writeUInt16BE(TYPE_A, 2);
  bytes.writeUInt16BE(CLASS_IN, 4);
  bytes.writeUInt16BE(4, 10);
  bytes.set(address.split('.').map(Number), 12);
  return bytes;
}
