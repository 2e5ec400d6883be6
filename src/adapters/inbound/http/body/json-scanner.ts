/** A number of RFC 8259 section 6, or the beginning of one, which does not end with a digit. */
const NUMBER = /-?(?:(0|[1-9]\d*)(?:\.(?!\d)|(?:\.(\d+))?(?:[eE]([+-]?\d*))?))?/y;
const DIGITS = '0123456789';
const HEX_DIGITS = '0123456789abcdefABCDEF';
const SPACES = ' \t\n\r';
const ESCAPED = '"\\/bfnrt';
const SPACE = 0x20;
const QUOTATION_MARK = 0x22;
const BACKSLASH = 0x5c;
/** Stands behind the last character. */
const END = '\0';

/** What is wrong at an index of a text. */
interface Issue {
  readonly index: number;
  /** Completes a sentence that begins with the name of the text. */
  readonly what: string;
}

function numberAt(text: string, index: number): RegExpExecArray {
  NUMBER.lastIndex = index;
  return NUMBER.exec(text) as RegExpExecArray;
}

function endsWithDigit(text: string): boolean {
  return DIGITS.includes(text.at(-1) ?? END);
}

/**
 * Whether a number is no integer, but the nearest double is one: `0.99999999999999999` or `1e-400`. A field for integers
 * would hold another number than the client sent.
 * @param literal a number as JSON writes it
 */
function isRoundedToInteger(literal: string): boolean {
  if (!Number.isInteger(Number(literal))) return false;
  const [, integer = '', fraction = '', exponent = '0'] = numberAt(literal, 0);
  const significant = lengthWithoutZeros(integer + fraction);
  return significant > 0 && significant > integer.length + Number(exponent);
}

/** By hand: an expression such as `0+$` looks at each zero of a million once for every zero before it. */
function lengthWithoutZeros(digits: string): number {
  let length = digits.length;
  while (digits[length - 1] === '0') length--;
  return length;
}

/**
 * Reads a text that may be JSON (RFC 8259) and finds what `JSON.parse` does not tell, or tells differently in each
 * version of Node. Slow, and recursive: the text must be nested to a bounded depth. Each private method returns false
 * where the text stops being JSON, with the index there.
 */
export class JsonScanner {
  /** The index of the first character that no JSON text can have there, or the length if the text ends too early. */
  index = 0;
  /** The first name that is `__proto__` or stands in its object twice. */
  wrongName: Issue | undefined;
  /** Start and end of each number that {@link isRoundedToInteger}. */
  readonly rounded: (readonly [start: number, end: number])[] = [];

  constructor(private readonly text: string) {
    this.value();
  }

  private get next(): string {
    return this.text[this.index] ?? END;
  }

  /** A value with the white space around it. */
  private value(): boolean {
    this.skipSpace();
    const isValid = this.bareValue();
    if (isValid) this.skipSpace();
    return isValid;
  }

  private bareValue(): boolean {
    switch (this.next) {
      case '{':
        return this.object();
      case '[':
        return this.list(']', () => this.value());
      case '"':
        return this.string();
      case 't':
        return this.word('true');
      case 'f':
        return this.word('false');
      case 'n':
        return this.word('null');
      default:
        return this.number();
    }
  }

  private object(): boolean {
    const names = new Set<string>();
    return this.list('}', () => this.member(names));
  }

  /** An array or an object. */
  private list(end: string, element: () => boolean): boolean {
    this.index++;
    this.skipSpace();
    if (this.take(end)) return true;
    do if (!element()) return false;
    while (this.take(','));
    return this.take(end);
  }

  private member(names: Set<string>): boolean {
    this.skipSpace();
    const start = this.index;
    if (this.next !== '"' || !this.string()) return false;
    this.wrongName ??= this.addName(names, start);
    this.skipSpace();
    return this.take(':') && this.value();
  }

  /** @returns what is wrong with the name that ends here, if anything */
  private addName(names: Set<string>, index: number): Issue | undefined {
    const name = JSON.parse(this.text.slice(index, this.index)) as string;
    if (name === '__proto__') return { index, what: 'has a member named __proto__' };
    if (names.has(name)) return { index, what: `has the member ${JSON.stringify(name)} twice in one object` };
    names.add(name);
    return undefined;
  }

  private string(): boolean {
    this.index++;
    for (;;) {
      const code = this.text.charCodeAt(this.index);
      // Also at the end, where it is not a number.
      if (!(code >= SPACE)) return false;
      this.index++;
      if (code === QUOTATION_MARK) return true;
      if (code === BACKSLASH && !this.escape()) return false;
    }
  }

  private escape(): boolean {
    if (!this.take('u')) return this.takeOne(ESCAPED);
    for (let digits = 0; digits < 4; digits++) if (!this.takeOne(HEX_DIGITS)) return false;
    return true;
  }

  private number(): boolean {
    const start = this.index;
    const [literal] = numberAt(this.text, start);
    this.index += literal.length;
    if (!endsWithDigit(literal)) return false;
    if (isRoundedToInteger(literal)) this.rounded.push([start, this.index]);
    return true;
  }

  private word(word: string): boolean {
    return [...word].every((letter) => this.take(letter));
  }

  private skipSpace(): void {
    while (this.takeOne(SPACES));
  }

  private take(character: string): boolean {
    const isTaken = this.next === character;
    if (isTaken) this.index++;
    return isTaken;
  }

  private takeOne(characters: string): boolean {
    const isTaken = characters.includes(this.next);
    if (isTaken) this.index++;
    return isTaken;
  }
}
