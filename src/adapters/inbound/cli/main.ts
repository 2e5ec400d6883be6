import { Command, CommanderError } from 'commander';
import { CopyError } from '../../../application/maintenance/copy-archive.js';
import { BackupTargetError } from '../../../application/ports/backup.js';
import { RequestRefused } from '../../../application/ports/remote-catalogue.js';
import { StoreConfigError } from '../../../application/ports/store.js';
import { loadClientSettings, loadSettings, SettingsError } from '../../../config/settings.js';
import { AppError } from '../../../domain/errors.js';
import { escapeControls } from '../../../shared/escape-controls.js';
import { redactSecrets } from '../../../shared/redact.js';
import { addBackup } from './commands/backup.js';
import { addCopy } from './commands/copy.js';
import { addKeys } from './commands/keys.js';
import { addMcp } from './commands/mcp.js';
import { addSeed } from './commands/seed.js';
import { addSigningKeys } from './commands/signing-keys.js';
import type { CliContext, Program } from './context.js';
import type { Io } from './io.js';
import { Interrupted } from './signals.js';

/** sysexits.h */
const EX_USAGE = 64;
const EX_CANTCREAT = 73;
const EX_TEMPFAIL = 75;
const EX_NOPERM = 77;
const EX_CONFIG = 78;

/**
 * Runs one command of `catalogue`.
 * @returns the exit code
 */
export async function run(args: readonly string[], io: Io, program: Program): Promise<number> {
  try {
    const context = {
      ...program,
      io,
      loadSettings: () => loadSettings(io.environment),
      loadClientSettings: () => loadClientSettings(io.environment),
    };
    await commandLine(context).parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    const exitCode = exitCodeOf(error);
    // Commander has printed its own errors.
    if (!(error instanceof CommanderError)) io.stderr.write(redactSecrets(`${messageOf(error as Error)}\n`));
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
  addMcp(program, context);
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

/** The words of a refusal come from another program, which must not control the terminal. */
function messageOf(error: Error): string {
  return error instanceof RequestRefused ? escapeControls(error.message) : error.message;
}

/** @throws the error itself if it is a defect */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EX_USAGE;
  if (error instanceof SettingsError) return EX_CONFIG;
  if (error instanceof Interrupted) return error.exitCode;
  if (error instanceof BackupTargetError) return EX_CANTCREAT;
  if (error instanceof CopyError || error instanceof StoreConfigError) return 1;
  if (error instanceof RequestRefused) return exitCodeOfRefusal(error);
  if (error instanceof AppError) return error.code === 'unavailable' ? EX_TEMPFAIL : 1;
  throw error;
}

function exitCodeOfRefusal({ status }: RequestRefused): number {
  if (status === 401 || status === 403) return EX_NOPERM;
  return status === 429 || status >= 500 ? EX_TEMPFAIL : 1;
}
