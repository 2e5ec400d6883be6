import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, type StandaloneConnectionOptions } from 'ioredis';

/** The largest reply that we accept. Our longest reply is the server's description of itself and its modules. */
export const MAX_REPLY_BYTES = 16 * 1024;

/**
 * The most replies in one chunk: at most 256 commands are under way, with at most four replies each. The driver
 * creates an error for each unexpected reply.
 */
const MAX_REPLIES = 1_100;

/** The most arrays and maps in one reply, which also bounds their nesting. */
const MAX_CONTAINERS = 64;

/** The smallest size of a value: its type and the end of its line. */
const MIN_VALUE_BYTES = 3;

const LINE_FEED = 10;

/** A text with its length. */
const BLOB = /^[$=!](\d{1,10})$/;
/** An array, or a map of twice as many values. */
const CONTAINER = /^([*%])(\d{1,10})$/;
/** The other values in replies to our commands: simple texts and errors, integers, booleans, and null. */
const PLAIN = /^([+-][^\r]*|:[+-]?\d{1,16}|#[tf]|_|[$*]-1)$/;

/**
 * Checks the bytes of replies before the driver parses them. The parser trusts the lengths in a reply: it keeps all
 * bytes until the announced end, and allocates memory for each array. Source: Redis serialization protocol, versions
 * 2 and 3 (https://redis.io/docs/latest/develop/reference/protocol-spec/).
 */
export class ReplyGuard {
  /** The bytes of the current reply. */
  private bytes = 0;
  private containers = 0;
  /** The values that have not begun yet, nested ones too. */
  private valuesLeft = 1;
  /** The missing bytes of the current text and its end of line. */
  private blobLeft = 0;
  /** The received part of the current line. */
  private line = '';

  /**
   * @param chunk follows the chunks of the earlier calls
   * @throws Error if a reply is larger than {@link MAX_REPLY_BYTES} or announces that it will be, if it violates the
   *   Redis protocol, or if there are too many replies. Its message quotes nothing of them
   */
  check(chunk: Buffer): void {
    let replies = 0;
    for (let at = 0; at < chunk.length; ) {
      const end = this.blobLeft > 0 ? at + this.blobLeft : chunk.indexOf(LINE_FEED, at) + 1 || chunk.length;
      const part = chunk.subarray(at, end);
      this.count(part.length);
      if (this.blobLeft > 0) this.blobLeft -= part.length;
      else this.readLine(part);
      if (this.valuesLeft === 0 && this.blobLeft === 0) {
        if (++replies > MAX_REPLIES) throw new Error('there are more replies than commands');
        this.begin();
      }
      at += part.length;
    }
  }

  private begin(): void {
    this.bytes = 0;
    this.containers = 0;
    this.valuesLeft = 1;
  }

  private count(bytes: number): void {
    this.bytes += bytes;
    this.expectRoomFor(0);
  }

  private readLine(part: Buffer): void {
    this.line += part.toString('latin1');
    if (!this.line.endsWith('\n')) return;
    if (!this.line.endsWith('\r\n')) throw invalidReply();
    this.readValue(this.line.slice(0, -2));
    this.line = '';
  }

  private readValue(header: string): void {
    this.valuesLeft--;
    const [, length] = BLOB.exec(header) ?? [];
    const [, type, size] = CONTAINER.exec(header) ?? [];
    if (length !== undefined) {
      this.expectRoomFor(Number(length));
      this.blobLeft = Number(length) + 2;
    } else if (size !== undefined) {
      if (++this.containers > MAX_CONTAINERS) throw tooLong();
      this.valuesLeft += Number(size) * (type === '%' ? 2 : 1);
      this.expectRoomFor(0);
    } else if (!PLAIN.test(header)) throw invalidReply();
  }

  private expectRoomFor(bytes: number): void {
    if (this.bytes + bytes + this.valuesLeft * MIN_VALUE_BYTES > MAX_REPLY_BYTES) throw tooLong();
  }
}

function tooLong(): Error {
  return new Error(`a reply is over ${MAX_REPLY_BYTES} bytes, or of too many parts`);
}

function invalidReply(): Error {
  return new Error('a reply violates the Redis protocol');
}

/** Connects to one server, as the connector of ioredis does, and closes the connection if the guard rejects a reply. */
export class GuardedConnector extends AbstractConnector {
  private readonly options: StandaloneConnectionOptions;

  /** @param options those of the client */
  constructor(options: unknown) {
    super(0);
    this.options = options as StandaloneConnectionOptions;
  }

  async connect(): Promise<Socket> {
    const { host = 'localhost', port = 6379, family, path, tls } = this.options;
    const server = path ? { path } : { host, port, ...(family !== undefined && { family }) };
    const socket = tls ? connectTls({ ...server, ...tls }) : connectTcp(server);
    socket.once('error', (error) => {
      this.firstError = error;
    });
    guardReplies(socket);
    this.stream = socket;
    return socket;
  }

  /** Closes the connection immediately: a server that sent an invalid reply may continue to send. */
  override disconnect(): void {
    this.stream?.destroy();
  }
}

/** Checks data before any listener gets it, also the data that arrives with the end of a TLS handshake. */
function guardReplies(socket: Socket): void {
  const guard = new ReplyGuard();
  const push = socket.push.bind(socket);
  socket.push = (chunk: Buffer | null) => {
    try {
      if (chunk) guard.check(chunk);
    } catch (error) {
      socket.destroy(error as Error);
      return false;
    }
    return push(chunk);
  };
}
