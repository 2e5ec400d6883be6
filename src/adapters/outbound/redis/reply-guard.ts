/** The longest reply that any command of ours has is the server's description of itself and its modules. */
export const MAX_REPLY_BYTES = 16 * 1024;

/**
 * In one chunk: at most 256 commands are under way, with at most four replies each. For each unexpected reply the driver
 * makes an error.
 */
const MAX_REPLIES = 1_100;

/** Of arrays and maps in one reply, so that those in each other stay few. */
const MAX_CONTAINERS = 64;

/** The least that a value takes up: its type and the end of its line. */
const MIN_VALUE_BYTES = 3;

const LINE_FEED = 10;

/** Text whose length is announced. */
const BLOB = /^[$=!](\d{1,10})$/;
/** Arrays, and maps of twice as many values. */
const CONTAINER = /^([*%])(\d{1,10})$/;
/** All else that replies to our commands are made of: simple texts and errors, integers, booleans, and nothing. */
const PLAIN = /^([+-][^\r]*|:[+-]?\d{1,16}|#[tf]|_|[$*]-1)$/;

/**
 * Looks at the bytes of replies before they are parsed. A parser believes what a reply says of its length: it keeps what
 * arrives until the end that was announced, and sets aside memory for each array.
 * Source: Redis serialization protocol, versions 2 and 3 (https://redis.io/docs/latest/develop/reference/protocol-spec/).
 */
export class ReplyGuard {
  /** Of the reply under way, as follows. */
  private bytes = 0;
  private containers = 0;
  /** Values that are still to begin, those inside of others too. */
  private valuesLeft = 1;
  /** Of the text under way, its end of line included. */
  private blobLeft = 0;
  /** The part of a line that is there. */
  private line = '';

  /**
   * @param chunk what follows the chunks before it
   * @throws Error where a reply is over {@link MAX_REPLY_BYTES}, or announces to be, or does not follow the Redis protocol, or where there are too
   *   many. Its message quotes nothing
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
    if (!this.line.endsWith('\r\n')) throw noReply();
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
    } else if (!PLAIN.test(header)) throw noReply();
  }

  private expectRoomFor(bytes: number): void {
    if (this.bytes + bytes + this.valuesLeft * MIN_VALUE_BYTES > MAX_REPLY_BYTES) throw tooLong();
  }
}

function tooLong(): Error {
  return new Error(`a reply is over ${MAX_REPLY_BYTES} bytes, or of too many parts`);
}

function noReply(): Error {
  return new Error('a reply is none of the Redis protocol');
}
