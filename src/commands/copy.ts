import { type CopyReport, countsIn } from '../application/copy-archive.js';
import { copyStores } from '../composition/copy-stores.js';
import { parse, say, UsageError } from './arguments.js';
import { TerminalProgress } from './terminal-progress.js';

export async function runCopy(args: string[]): Promise<void> {
  const { values } = parse(args, ['from', 'to']);
  const { from, to } = values;
  if (!from || !to) throw new UsageError('copy needs --from and --to');
  const progress = new TerminalProgress();
  try {
    const reports = await copyStores(from, to, (name, step, entries) =>
      progress.show(`${name}: ${step} ${entries}`),
    );
    progress.clear();
    for (const report of reports) say(`${described(report)}\n`);
  } finally {
    progress.clear();
  }
}

function described(report: CopyReport): string {
  const { name, written, checksum } = report;
  return `${name}: ${countsIn(report)}, ${written} of them written now; both sides SHA-256 ${checksum}`;
}
