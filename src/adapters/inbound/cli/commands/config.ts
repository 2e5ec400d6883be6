import type { Command } from 'commander';
import { SettingsError } from '../../../../config/settings.js';
import { escapeControls } from '../../../../shared/shown-text.js';
import type { CliContext } from '../context.js';
import { writeJson } from '../io.js';

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
        const { table } = await import('../table.js');
        const rows = settings.map(({ name, value, source }) => [name, String(value), source]);
        io.stdout.write(table(['NAME', 'VALUE', 'SOURCE'], rows));
      }
      for (const warning of unknownVariables()) io.stderr.write(`warning: ${escapeControls(warning)}\n`);
      if (issues.length > 0) throw new SettingsError(issues);
    });
}
