const BYTE = {
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  space: 0x20,
  quotationMark: 0x22,
  plus: 0x2b,
  minus: 0x2d,
  dot: 0x2e,
  zero: 0x30,
  backslash: 0x5c,
  openBrace: 0x7b,
  openBracket: 0x5b,
} as const;

const SPACES = [...' \t\n\r'].map(code);
const DIGITS = [...'0123456789'].map(code);
const HEX_DIGITS = [...'0123456789abcdefABCDEF'].map(code);
const ESCAPES = [...'"\\/bfnrt'].map(code);
const EXPONENTS = [...'eE'].map(code);
const WORDS = ['true', 'false', 'null'].map((word) => [...word].map(code));
const UNICODE_ESCAPE = code('u');

/** A place in a text. Both numbers count from 1. */
export interface Position {
  /** Ends with a line feed, a carriage return, or both. */
  readonly line: number;
  /** In Unicode code points; a tab is one. */
  readonly column: number;
}

/** @param bytes valid UTF-8 up to the index */
export function positionOf(bytes: Buffer, index: number): Position {
  let line = 1;
  let column = 1;
  for (let at = 0; at < index; at++) {
    const byte = bytes[at] as number;
    const endsLine =
      byte === BYTE.lineFeed || (byte === BYTE.carriageReturn && bytes[at + 1] !== BYTE.lineFeed);
    if (endsLine) line++;
    if (endsLine) column = 1;
    // The first byte of each code point; the others are 10xxxxxx.
    else if ((byte & 0xc0) !== 0x80) column++;
  }
  return { line, column };
}

/**
 * Returns the index of the first byte that no JSON text (RFC 8259) can have there, or the number of bytes if they end
 * too early. `JSON.parse` says this only for some errors, and differently in each version of Node.
 * @param bytes not JSON, but UTF-8, and nested to a bounded depth
 */
export function endOfValidJson(bytes: Buffer): number {
  const scanner = new JsonScanner(bytes);
  scanner.text();
  return scanner.index;
}

/** Each method returns false where the text stops being JSON, with the index there. */
class JsonScanner {
  index = 0;

  constructor(private readonly bytes: Buffer) {}

  text(): boolean {
    return this.value() && this.index === this.bytes.length;
  }

  /** A value with the white space around it. */
  private value(): boolean {
    this.skip(SPACES);
    const isValid = this.bareValue();
    if (isValid) this.skip(SPACES);
    return isValid;
  }

  private bareValue(): boolean {
    switch (this.bytes[this.index]) {
      case BYTE.openBrace:
        return this.list(code('}'), () => this.member());
      case BYTE.openBracket:
        return this.list(code(']'), () => this.value());
      case BYTE.quotationMark:
        return this.string();
      default:
        return this.word() ?? this.number();
    }
  }

  /** An array or an object. */
  private list(end: number, element: () => boolean): boolean {
    this.index++;
    this.skip(SPACES);
    if (this.take(end)) return true;
    do if (!element()) return false;
    while (this.take(code(',')));
    return this.take(end);
  }

  private member(): boolean {
    this.skip(SPACES);
    if (this.bytes[this.index] !== BYTE.quotationMark || !this.string()) return false;
    this.skip(SPACES);
    return this.take(code(':')) && this.value();
  }

  private string(): boolean {
    this.index++;
    for (;;) {
      const byte = this.bytes[this.index] ?? 0;
      if (byte < BYTE.space) return false;
      this.index++;
      if (byte === BYTE.quotationMark) return true;
      if (byte === BYTE.backslash && !this.escape()) return false;
    }
  }

  private escape(): boolean {
    if (!this.take(UNICODE_ESCAPE)) return this.takeOne(ESCAPES);
    return [1, 2, 3, 4].every(() => this.takeOne(HEX_DIGITS));
  }

  private number(): boolean {
    this.take(BYTE.minus);
    if (!this.take(BYTE.zero) && !this.digits()) return false;
    if (this.take(BYTE.dot) && !this.digits()) return false;
    if (!this.takeOne(EXPONENTS)) return true;
    if (!this.take(BYTE.plus)) this.take(BYTE.minus);
    return this.digits();
  }

  private digits(): boolean {
    const isDigit = this.takeOne(DIGITS);
    this.skip(DIGITS);
    return isDigit;
  }

  /** Undefined if there is no word. */
  private word(): boolean | undefined {
    const word = WORDS.find(([first]) => first === this.bytes[this.index]);
    return word?.every((letter) => this.take(letter));
  }

  private skip(bytes: readonly number[]): void {
    while (this.takeOne(bytes));
  }

  private take(byte: number): boolean {
    return this.takeOne([byte]);
  }

  private takeOne(bytes: readonly number[]): boolean {
    const isTaken = bytes.includes(this.bytes[this.index] as number);
    if (isTaken) this.index++;
    return isTaken;
  }
}

function code(character: string): number {
  return character.charCodeAt(0);
}
