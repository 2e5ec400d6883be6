import type { Command } from 'commander';
import type { Diagnosis, Severity } from '../../../../application/ports/diagnostics.js';
import { EXIT_CODES } from '../../../../shared/program.js';
import { escapeControls, redactSecrets } from '../../../../shared/shown-text.js';
import type { CliContext } from '../context.js';
import { type Io, writeJson } from '../io.js';

interface CheckOptions {
  readonly deep?: boolean;
  readonly json?: boolean;
}

const WIDTHS = { verdict: 9, subject: 14 };

export function addCheck(program: Command, context: CliContext): void {
  program
    .command('check')
    .summary('examine settings, store, certificate, clock, disk, Redis and ports')
    .description(
      'Examines the settings and everything that the service uses, and says what to do. It changes nothing, and a ' +
        'service may run meanwhile. The exit code is 1 if something is wrong, else 0, also after warnings.',
    )
    .option('--deep', 'look for damage in a large SQLite database as well (PRAGMA integrity_check)')
    .option('--json', 'print a line of JSON for each finding')
    .addHelpText('after', '\nexample: catalogue check')
    .action(async ({ deep = false, json = false }: CheckOptions) => {
      let worst: Severity = 'ok';
      for await (const diagnosis of diagnoses(context, deep)) {
        if (diagnosis.verdict === 'wrong' || worst === 'ok') worst = diagnosis.verdict;
        if (json) writeJson(context.io, diagnosis);
        else print(context.io, diagnosis);
      }
      if (worst === 'wrong') context.exitWith(EXIT_CODES.problem);
    });
}

async function* diagnoses(context: CliContext, deep: boolean): AsyncGenerator<Diagnosis> {
  const { settings, issues } = context.explainSettings();
  for (const message of issues)
    yield { subject: 'settings', verdict: 'wrong', message, remedy: SEE_SETTINGS };
  for (const message of context.unknownVariables())
    yield { subject: 'settings', verdict: 'warning', message, remedy: 'correct or remove it' };
  if (issues.length > 0) return;
  const chosen = settings.filter(({ source }) => !/^(default|computed)/.test(source)).length;
  const message = `all ${settings.length} are valid (from a file or the environment: ${chosen})`;
  yield { subject: 'settings', verdict: 'ok', message };
  const { checkService } = await context.loadTasks();
  yield* checkService(context.loadSettings(), deep);
}

const SEE_SETTINGS = 'catalogue config shows where each value comes from';

/** The texts of other programs, such as an index name, must not control the terminal. */
function print(io: Io, { verdict, subject, message, remedy }: Diagnosis): void {
  const line = `${verdict.padEnd(WIDTHS.verdict)}${subject.padEnd(WIDTHS.subject)}${message}`;
  io.stdout.write(`${redactSecrets(escapeControls(line))}\n`);
  const indent = ' '.repeat(WIDTHS.verdict + WIDTHS.subject);
  if (remedy !== undefined) io.stdout.write(`${indent}To do: ${redactSecrets(escapeControls(remedy))}\n`);
}
