import { appendFileSync, mkdirSync } from 'node:fs';

/** The figures of a run, one JSON object a line. */
export const FIGURES = 'build/figures.jsonl';

/** One measured value. No test compares it: people do, with `npm run figures`. */
export interface Figure {
  /** What was measured, as the name of a test file without its folder: `mixed-use`. */
  readonly subject: string;
  readonly name: string;
  readonly value: number | string;
}

/**
 * Returns a function that prints a measured value and appends it to `build/figures.jsonl`.
 * @param subject the name of the test file without its folder
 */
export function figuresOf(subject: string): (name: string, value: Figure['value']) => void {
  return (name, value) => {
    const figure: Figure = { subject, name, value };
    mkdirSync('build', { recursive: true });
    appendFileSync(FIGURES, `${JSON.stringify(figure)}\n`);
    process.stdout.write(`        figure: ${name} ${typeof value === 'number' ? rounded(value) : value}\n`);
  };
}

function rounded(value: number): string {
  return Number.isInteger(value)
    ? value.toLocaleString('en-US')
    : value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}
