/**
 * The placeholders in the examples of a document. `…` stands for any text. `$NAME` stands for a text that its first
 * occurrence determines, and that is the same at each further occurrence.
 */
export class OpenText {
  private readonly known: Map<string, string>;

  constructor(known: Readonly<Record<string, string>>) {
    this.known = new Map(Object.entries(known));
  }

  /**
   * Returns a text with the values of its names.
   * @throws Error if a name has no value yet
   */
  filled(text: string): string {
    return text.replaceAll(NAME, (_, name: string) => {
      const value = this.known.get(name);
      if (value === undefined) throw new Error(`$${name} has no value yet`);
      return value;
    });
  }

  /**
   * Returns the expected value with its placeholders replaced by the actual text. A text that does not match stays
   * unchanged.
   */
  closed(expected: unknown, actual: unknown): unknown {
    if (typeof expected === 'string') return this.closedText(expected, actual);
    if (Array.isArray(expected))
      return expected.map((element, index) => this.closed(element, Array.isArray(actual) ? actual[index] : undefined));
    if (typeof expected !== 'object' || expected === null) return expected;
    return Object.fromEntries(
      Object.entries(expected).map(([name, member]) => [
        name,
        this.closed(member, (actual as Readonly<Record<string, unknown>> | null | undefined)?.[name]),
      ]),
    );
  }

  private closedText(expected: string, actual: unknown): string {
    const match = typeof actual === 'string' ? this.pattern(expected).exec(actual) : null;
    if (!match) return expected;
    for (const [name, value] of Object.entries(match.groups ?? {})) this.known.set(name, value);
    return match[0];
  }

  private pattern(expected: string): RegExp {
    const source = expected
      .split(/(…|\$[A-Z][A-Z_]*)/)
      .map((part) => {
        if (part === '…') return '[^]+';
        const [, name] = WHOLE_NAME.exec(part) ?? [];
        if (name === undefined) return escapeRegExp(part);
        const value = this.known.get(name);
        return value === undefined ? `(?<${name}>[^\\s<>,;]+)` : escapeRegExp(value);
      })
      .join('');
    return new RegExp(`^${source}$`);
  }
}

const NAME = /\$([A-Z][A-Z_]*)/g;
const WHOLE_NAME = /^\$([A-Z][A-Z_]*)$/;

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
