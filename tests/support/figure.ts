import { appendFileSync, mkdirSync } from 'node:fs';

export const FIGURES_FILE = 'build/figures.jsonl';

/** Of `per s` and `%`, more is better; of the others, less. `times` is a ratio. */
export type Unit = 'ms' | 's' | 'MiB' | 'times' | 'per s' | '%';

/** One measured value. No test compares it: people do, with `npm run figures`. */
export interface Figure {
  /** What was measured, as the name of a test file without its folder: `mixed-use`. */
  readonly subject: string;
  readonly name: string;
  readonly value: number | string;
  /** Absent: a count or a text, which runs of other releases are not compared by. */
  readonly unit?: Unit;
}

/**
 * Returns a function that prints a measured value and appends it to `build/figures.jsonl`.
 * @param subject the name of the test file without its folder
 */
export function figuresOf(subject: string): (name: string, value: Figure['value'], unit?: Unit) => void {
  return (name, value, unit) => {
    // JSON has no NaN and no infinity.
    const isText = typeof value === 'string' || !Number.isFinite(value);
    const figure: Figure = { subject, name, value: isText ? String(value) : value, ...(unit && { unit }) };
    mkdirSync('build', { recursive: true });
    appendFileSync(FIGURES_FILE, `${JSON.stringify(figure)}\n`);
    process.stdout.write(`        figure: ${name} ${shown(figure)}\n`);
  };
}

/** Returns the value as people read it: `1,234`, `0.42 ms`. */
export function shown({ value, unit }: Pick<Figure, 'value' | 'unit'>): string {
  const text = typeof value === 'number' ? rounded(value) : value;
  return unit ? `${text} ${unit}` : text;
}

function rounded(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString('en-US') : value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}
