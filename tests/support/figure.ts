const PREFIX = 'figure: ';

/** Prints a measured value, which `npm run test:faults` collects for its table: `figure('lost', 0)`. */
export function figure(name: string, value: number | string): void {
  process.stdout.write(`        ${PREFIX}${name} ${typeof value === 'number' ? rounded(value) : value}\n`);
}

/** Returns the figures in the output of a test run, in the order in which they were printed. */
export function figuresIn(output: string): string[] {
  return output.split('\n').flatMap((line) => {
    const text = line.trimStart();
    return text.startsWith(PREFIX) ? [text.slice(PREFIX.length)] : [];
  });
}

function rounded(value: number): string {
  return Number.isInteger(value)
    ? value.toLocaleString('en-US')
    : value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}
