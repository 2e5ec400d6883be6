import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

const TYPE_A = 1;
/** RFC 2782. */
const TYPE_SRV = 33;
const CLASS_IN = 1;
const HEADER_BYTES = 12;

/** The host and port of a service. */
export interface ServiceTarget {
  readonly host: string;
  readonly port: number;
}

/**
 * A DNS server (RFC 1035) that knows one name. It answers every question with its A or SRV records, as Docker does for a
 * service.
 */
export class NameServer {
  private readonly socket = createSocket('udp4');

  /** @param addresses,services are called for each question */
  constructor(addresses: () => readonly string[], services: () => readonly ServiceTarget[] = () => []) {
    this.socket.on('message', (question, { port, address }) => {
      const records = [...addresses().map(addressRecord), ...services().map(serviceRecord)];
      this.socket.send(responseTo(question, records), port, address);
    });
  }

  /** Starts to listen. @returns the IP address and port */
  async start(): Promise<string> {
    this.socket.bind(0, '127.0.0.1');
    await once(this.socket, 'listening');
    return `127.0.0.1:${(this.socket.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.socket.close();
  }
}

function responseTo(question: Buffer, records: readonly Buffer[]): Buffer {
  const endOfName = question.indexOf(0, HEADER_BYTES) + 1;
  const questionSection = question.subarray(HEADER_BYTES, endOfName + 4);
  const answers = records.filter((record) => record.readUInt16BE(2) === question.readUInt16BE(endOfName));
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(question.readUInt16BE(0), 0);
  header.writeUInt16BE(0x8580, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers.length, 6);
  return Buffer.concat([header, questionSection, ...answers]);
}

function addressRecord(address: string): Buffer {
  return record(TYPE_A, Buffer.from(address.split('.').map(Number)));
}

function serviceRecord({ host, port }: ServiceTarget): Buffer {
  const numbers = Buffer.alloc(6);
  numbers.writeUInt16BE(port, 4);
  const labels = host.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
  return record(TYPE_SRV, Buffer.concat([numbers, ...labels, Buffer.alloc(1)]));
}

function record(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  // A pointer to the name in the question (RFC 1035 section 4.1.4).
  head.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(CLASS_IN, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
