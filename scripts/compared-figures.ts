import type { Figure, Unit } from '../tests/support/figure.js';

/** Figures of a release, as `docs/figures.json` has them. */
export interface RecordedFigures {
  /** Where they were measured: cores, processor, Node.js. */
  readonly machine: string;
  /** The figures with a unit, by subject and then by name and unit: `{"overload": {"p99 at 2x, ms": 62.1}}`. */
  readonly figures: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** A figure beside that of the last release. */
export interface ComparedFigure {
  readonly figure: Figure;
  /** Undefined if the last release has none. */
  readonly before: number | undefined;
  /** Whether it is worse than {@link MUCH} times that of the last release. */
  readonly isMuchWorse: boolean;
}

const MUCH = 1.5;
const MORE_IS_BETTER: readonly (Unit | undefined)[] = ['per s', '%'];
const SIGNIFICANT_DIGITS = 3;

/**
 * Returns the figures of a run from JSON lines, in the order in which they first appear. If a figure was measured
 * several times, the last value counts.
 */
export function figuresIn(lines: string): Figure[] {
  const figures = new Map<string, Figure>();
  for (const line of lines.split('\n').filter(Boolean)) {
    const figure: Figure = JSON.parse(line);
    figures.set(keyOf(figure), figure);
  }
  return [...figures.values()];
}

/** Compares the figures of a run with those of a release. A value of zero compares with nothing. */
export function compared(
  figures: readonly Figure[],
  { figures: recorded }: Pick<RecordedFigures, 'figures'>,
): ComparedFigure[] {
  return figures.map((figure) => {
    const before = recorded[figure.subject]?.[nameOf(figure)];
    const { value, unit } = figure;
    const isComparable = typeof value === 'number' && before !== undefined && before > 0;
    const isMuchWorse = isComparable && (MORE_IS_BETTER.includes(unit) ? value * MUCH < before : value > before * MUCH);
    return { figure, before, isMuchWorse };
  });
}

/** Returns the figures with a unit, sorted and rounded, so that two runs differ in values only. */
export function recordOf(figures: readonly Figure[], machine: string): RecordedFigures {
  const bySubject: Record<string, Record<string, number>> = {};
  const sorted = [...figures].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  for (const figure of sorted) {
    const { subject, value, unit } = figure;
    if (typeof value !== 'number' || !unit) continue;
    bySubject[subject] ??= {};
    bySubject[subject][nameOf(figure)] = Number(value.toPrecision(SIGNIFICANT_DIGITS));
  }
  return { machine, figures: bySubject };
}

function nameOf({ name, unit }: Figure): string {
  return unit ? `${name}, ${unit}` : name;
}

function keyOf(figure: Figure): string {
  return `${figure.subject}\n${nameOf(figure)}`;
}
