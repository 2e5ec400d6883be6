import { Command, CommanderError } from 'commander';
import { CopyError } from '../../../application/maintenance/copy-archive.js';
import { BackupTargetError } from '../../../application/ports/backup.js';
import { StoreConfigError } from '../../../application/ports/store.js';
import { loadSettings, SettingsError } from '../../../config/settings.js';
import { AppError } from '../../../domain/errors.js';
import { redactSecrets } from '../../../shared/redact.js';
import { addBackup } from './commands/backup.js';
import { addCopy } from './commands/copy.js';
import { addKeys } from './commands/keys.js';
import { addSeed } from './commands/seed.js';
import { addSigningKeys } from './commands/signing-keys.js';
import type { CliContext, Program } from './context.js';
import type { Io } from './io.js';
import { Interrupted } from './signals.js';

/** sysexits.h */
const EX_USAGE = 64;
const EX_CANTCREAT = 73;
const EX_TEMPFAIL = 75;
const EX_CONFIG = 78;

/**
 * Runs one command of `catalogue`.
 * @returns the exit code
 */
export async function run(args: readonly string[], io: Io, program: Program): Promise<number> {
  try {
    const context = { ...program, io, loadSettings: () => loadSettings(io.environment) };
    await commandLine(context).parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    const exitCode = exitCodeOf(error);
    // Commander has printed its own errors.
    if (!(error instanceof CommanderError)) io.stderr.write(redactSecrets(`${(error as Error).message}\n`));
    return exitCode;
  }
}

function commandLine(context: CliContext): Command {
  const { io, serve } = context;
  const program = new Command('catalogue')
    .description('Runs the product catalogue and administers the store that its settings name.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(redactSecrets(text)),
    })
    .configureHelp({ styleTitle: (title) => title.toLowerCase() })
    .showHelpAfterError();
  program
    .command('serve')
    .description('run the service (the same as npm start); its settings are in the environment')
    .action(serve);
  addKeys(program, context);
  addSigningKeys(program, context);
  addSeed(program, context);
  addCopy(program, context);
  addBackup(program, context);
  program
    .command('openapi')
    .description('print the description of the API (OpenAPI 3.1); no service has to run')
    .action(async () => {
      const settings = context.loadSettings();
      const { describeService } = await context.loadTasks();
      io.stdout.write(`${JSON.stringify(describeService(settings), undefined, 2)}\n`);
    });
  return program;
}

/** @throws the error itself if it is a defect */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EX_USAGE;
  if (error instanceof SettingsError) return EX_CONFIG;
  if (error instanceof Interrupted) return error.exitCode;
  if (error instanceof BackupTargetError) return EX_CANTCREAT;
  if (error instanceof CopyError || error instanceof StoreConfigError) return 1;
  if (error instanceof AppError) return error.code === 'unavailable' ? EX_TEMPFAIL : 1;
  throw error;
}
