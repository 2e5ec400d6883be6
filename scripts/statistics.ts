/** The times of many requests, in milliseconds. */
export class Latencies {
  private readonly values: number[] = [];

  get count(): number {
    return this.values.length;
  }

  add(milliseconds: number): void {
    this.values.push(milliseconds);
  }

  addAll(others: Latencies): void {
    for (const value of others.values) this.values.push(value);
  }

  /** The smallest time that this part of the requests, such as 0.99, did not exceed; NaN without requests. */
  quantile(part: number): number {
    const sorted = Float64Array.from(this.values).sort();
    return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
  }
}

/** NaN if there are no values. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
}

/** A Markdown table. The first column is aligned to the left, the others to the right. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, at) => Math.max(heading.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, at) => (at === 0 ? (cells[at] ?? '').padEnd(width) : (cells[at] ?? '').padStart(width))).join(' | ')} |`;
  const rule = `|${widths.map((width, at) => (at === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(headings), rule, ...rows.map(line)].join('\n');
}

export function milliseconds(value: number): string {
  return value.toFixed(2);
}

export function ratio(value: number, base: number): string {
  return (value / base).toFixed(2);
}

export function grouped(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
