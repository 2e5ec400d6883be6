/**
 * What a document leaves open in an answer: `…` stands for anything, `$NAME` for what is not known before and is the same
 * wherever the name occurs again.
 */
export class OpenText {
  private readonly known: Map<string, string>;

  constructor(known: Readonly<Record<string, string>>) {
    this.known = new Map(Object.entries(known));
  }

  /**
   * The text with what the names stand for.
   * @throws Error where a name has not been met yet
   */
  filled(text: string): string {
    return text.replaceAll(NAME, (_, name: string) => {
      const value = this.known.get(name);
      if (value === undefined) throw new Error(`$${name} is not known here`);
      return value;
    });
  }

  /** What was expected, with all that it leaves open taken from what came; where that does not fit it stays as it was. */
  closed(expected: unknown, actual: unknown): unknown {
    if (typeof expected === 'string') return this.closedText(expected, actual);
    if (Array.isArray(expected))
      return expected.map((element, at) =>
        this.closed(element, Array.isArray(actual) ? actual[at] : undefined),
      );
    if (typeof expected !== 'object' || expected === null) return expected;
    return Object.fromEntries(
      Object.entries(expected).map(([name, member]) => [
        name,
        this.closed(member, (actual as Readonly<Record<string, unknown>> | null | undefined)?.[name]),
      ]),
    );
  }

  private closedText(expected: string, actual: unknown): string {
    const met = typeof actual === 'string' ? this.pattern(expected).exec(actual) : null;
    if (!met) return expected;
    for (const [name, value] of Object.entries(met.groups ?? {})) this.known.set(name, value);
    return met[0];
  }

  private pattern(expected: string): RegExp {
    const source = expected
      .split(/(…|\$[A-Z][A-Z_]*)/)
      .map((part) => {
        if (part === '…') return '[^]+';
        const [, name] = WHOLE_NAME.exec(part) ?? [];
        if (name === undefined) return literally(part);
        const value = this.known.get(name);
        return value === undefined ? `(?<${name}>[^\\s<>,;]+)` : literally(value);
      })
      .join('');
    return new RegExp(`^${source}$`);
  }
}

const NAME = /\$([A-Z][A-Z_]*)/g;
const WHOLE_NAME = /^\$([A-Z][A-Z_]*)$/;

function literally(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
