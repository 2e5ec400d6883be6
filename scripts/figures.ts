/**
 * Prints each figure of `build/figures.jsonl`, which tests and benchmarks write, beside that of the last release, and
 * marks those that are worse than 1.5 times. It never fails: figures depend on the machine, so people compare them.
 * `npm run figures`; `-- --against FILE` compares with another file than `docs/figures.json`; `-- --write` writes that
 * file instead.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { FIGURES_FILE, shown } from '../tests/support/figure.js';
import { compared, figuresIn, type RecordedFigures, recordOf } from './compared-figures.js';
import { parsedOptions } from './options.js';
import { print, table } from './statistics.js';

const { against, write } = parsedOptions({
  against: { type: 'string', default: 'docs/figures.json' },
  write: { type: 'boolean', default: false },
});
const NONE: RecordedFigures = { machine: 'none', figures: {} };
const machine = `${availableParallelism()} cores, ${cpus()[0]?.model}, Node ${process.version}`;
const figures = read(FIGURES_FILE, figuresIn) ?? [];
if (write) {
  writeFileSync(against, `${JSON.stringify(recordOf(figures, machine), null, 2)}\n`);
  print(`${against}: the figures of ${FIGURES_FILE} that have a unit`);
} else report();

function report(): void {
  const recorded: RecordedFigures = read(against, JSON.parse) ?? NONE;
  const all = compared(figures, recorded);
  const rows = all.map(({ figure, before, isMuchWorse }) => [
    `${figure.subject}: ${figure.name}`,
    shown(figure),
    before === undefined ? '' : shown({ ...figure, value: before }),
    isMuchWorse ? 'worse' : '',
  ]);
  print(`now: ${machine}\n${against}: ${recorded.machine}\n`);
  print(table(['figure', 'now', 'before', ''], rows));
  print(`\n${all.filter(({ isMuchWorse }) => isMuchWorse).length} are worse than 1.5 times`);
}

/** Says so if the file is missing or has another form. */
function read<Content>(file: string, parse: (text: string) => Content): Content | undefined {
  try {
    return parse(readFileSync(file, 'utf8'));
  } catch (error) {
    print(`${file} cannot be read: ${(error as Error).message}`);
    return undefined;
  }
}
