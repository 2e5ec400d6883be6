import type { Command } from 'commander';
import type { Diagnosis, Severity } from '../../../../application/ports/diagnostics.js';
import { SettingsError } from '../../../../config/settings.js';
import { EXIT_CODES } from '../../../../shared/program.js';
import { escapeControls, redactSecrets } from '../../../../shared/shown-text.js';
import type { CliContext } from '../context.js';
import { type Io, table, writeJson } from '../io.js';

const SEE_SETTINGS = 'catalogue config shows where each value comes from';
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
    .action(async ({ deep, json }: { readonly deep?: boolean; readonly json?: boolean }) => {
      let worst: Severity = 'ok';
      for await (const diagnosis of diagnoses(context, deep === true)) {
        if (diagnosis.verdict === 'wrong' || worst === 'ok') worst = diagnosis.verdict;
        if (json) writeJson(context.io, diagnosis);
        else print(context.io, diagnosis);
      }
      if (worst === 'wrong') context.exitWith(EXIT_CODES.problem);
    });
}

async function* diagnoses(context: CliContext, deep: boolean): AsyncGenerator<Diagnosis> {
  const { settings, issues } = context.explainSettings();
  for (const message of issues) yield { subject: 'settings', verdict: 'wrong', message, remedy: SEE_SETTINGS };
  for (const message of context.unknownVariables())
    yield { subject: 'settings', verdict: 'warning', message, remedy: 'correct or remove it' };
  if (issues.length > 0) return;
  const chosen = settings.filter(({ source }) => !/^(default|computed)/.test(source)).length;
  const message = `all ${settings.length} are valid (from a file or the environment: ${chosen})`;
  yield { subject: 'settings', verdict: 'ok', message };
  const { checkService } = await context.loadTasks();
  yield* checkService(context.loadSettings(), deep);
}

/** The texts of other programs, such as an index name, must not control the terminal. */
function print(io: Io, { verdict, subject, message, remedy }: Diagnosis): void {
  const write = (line: string) => io.stdout.write(`${redactSecrets(escapeControls(line))}\n`);
  const [first, indent] = [WIDTHS.verdict, WIDTHS.verdict + WIDTHS.subject];
  write(`${verdict.padEnd(first)}${subject.padEnd(WIDTHS.subject)}${message}`);
  if (remedy !== undefined) write(`${' '.repeat(indent)}To do: ${remedy}`);
}

export function addConfig(program: Command, { io, explainSettings, unknownVariables }: CliContext): void {
  program
    .command('config')
    .summary('print the settings, each with its source')
    .description(
      'Prints the value of each setting and where it comes from: default, a file, the environment, or computed from ' +
        'other settings. Passwords and keys are masked. Wrong settings are printed as given, then every problem.',
    )
    .option('--json', 'print a line of JSON for each setting')
    .addHelpText('after', '\nexample: CONFIG_FILE=production.json catalogue config')
    .action(async ({ json }: { readonly json?: boolean }) => {
      const { settings, issues } = explainSettings();
      if (json) for (const setting of settings) writeJson(io, setting);
      else {
        const rows = settings.map(({ name, value, source }) => [name, String(value), source]);
        io.stdout.write(await table(['NAME', 'VALUE', 'SOURCE'], rows));
      }
      for (const warning of unknownVariables()) io.stderr.write(`warning: ${escapeControls(warning)}\n`);
      if (issues.length > 0) throw new SettingsError(issues);
    });
}
