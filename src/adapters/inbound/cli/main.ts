import { Command, CommanderError } from 'commander';
import { RequestRefused, Unavailable, UnknownService } from '#packages/remote/errors.js';
import { CopyError } from '../../../application/maintenance/copy.js';
import {
  BackupTargetError,
  BackupUnusable,
  SourceMissing,
  StoreConfigError,
  StoreInUse,
} from '../../../application/ports/store.js';
import {
  explainSettings,
  loadClientSettings,
  loadSettings,
  packageVersion,
  SettingsError,
  unknownVariables,
} from '../../../config/settings.js';
import { AppError } from '../../../domain/errors.js';
import { EXIT_CODES } from '../../../shared/program.js';
import { escapeControls, redactSecrets, systemReason } from '../../../shared/shown-text.js';
import { addBackup, addRestore } from './commands/backup.js';
import { addChanges } from './commands/changes.js';
import { addCheck, addConfig } from './commands/check.js';
import { addCompletion } from './commands/completion.js';
import { addCopy } from './commands/copy.js';
import { addImport } from './commands/import.js';
import { addKeys, addSigningKeys } from './commands/keys.js';
import { addMcp } from './commands/mcp.js';
import { addSeed } from './commands/seed.js';
import type { CliContext, Program } from './context.js';
import { CommandError, type Io } from './io.js';
import { detailText, exitCodeOfRefusal } from './remote.js';

/**
 * Runs one command of `catalogue`.
 * @returns the exit code
 */
export async function run(args: readonly string[], io: Io, program: Program): Promise<number> {
  let exitCode: number = EXIT_CODES.ok;
  try {
    const context: CliContext = {
      ...program,
      io,
      loadSettings: () => {
        const settings = loadSettings(io.environment);
        for (const warning of unknownVariables(io.environment))
          io.stderr.write(`warning: ${escapeControls(warning)}\n`);
        return settings;
      },
      loadClientSettings: () => loadClientSettings(io.environment),
      explainSettings: () => explainSettings(io.environment),
      unknownVariables: () => unknownVariables(io.environment),
      exitWith: (code) => {
        exitCode = code;
      },
    };
    await commandLine(context).parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    exitCode = exitCodeOf(error);
    // Commander has printed its own errors.
    if (!(error instanceof CommanderError)) io.stderr.write(redactSecrets(`${messageOf(error as Error)}\n`));
    return exitCode;
  }
}

const EXAMPLES = `
catalogue COMMAND --help describes a command and has an example.
docs/reference/command-line.md lists the exit codes.

example: catalogue serve`;

function commandLine(context: CliContext): Command {
  const { io, serve } = context;
  const program = new Command('catalogue')
    .description('Runs the product catalogue and administers the store that its settings name.')
    .version(packageVersion(), '--version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(redactSecrets(escapeLines(text))),
    })
    .configureHelp({ styleTitle: (title) => title.toLowerCase() })
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError();
  program
    .command('serve')
    .summary('run the service')
    .description('Runs the service, as npm start does. Its settings are in the environment and in CONFIG_FILE.')
    .addHelpText('after', '\nexample: PORT=9443 catalogue serve')
    .action(serve);
  addKeys(program, context);
  addSigningKeys(program, context);
  addSeed(program, context);
  addCopy(program, context);
  addBackup(program, context);
  addRestore(program, context);
  addChanges(program, context);
  addCheck(program, context);
  addConfig(program, context);
  addImport(program, context);
  addMcp(program, context);
  program
    .command('openapi')
    .summary('print the OpenAPI document')
    .description('Prints the description of the API (OpenAPI 3.1). No service has to run.')
    .addHelpText('after', '\nexample: catalogue openapi > openapi.json')
    .action(async () => {
      const settings = context.loadSettings();
      const { describeService } = await context.loadTasks();
      io.stdout.write(escapeLines(`${JSON.stringify(await describeService(settings), undefined, 2)}\n`));
    });
  addCompletion(program, context);
  return program;
}

/** The words of a refusal come from another program, and arguments from anywhere: neither may control the terminal. */
function messageOf(error: Error): string {
  if (!(error instanceof RequestRefused)) return escapeLines(withReason(error));
  return [error.message, ...error.body.details.map(detailText)].map(escapeControls).join('\n');
}

/** The message of an error is the same over HTTP, where nobody may see the words of the system or the driver. */
function withReason(error: Error): string {
  const { message, cause } = error;
  const hidesReason = error instanceof AppError && cause instanceof Error && 'code' in cause;
  if (!hidesReason || message.includes(cause.message)) return message;
  return `${message} The reason: ${systemReason(cause)}.\nTo do: catalogue check says what is wrong.`;
}

function escapeLines(text: string): string {
  return text.split('\n').map(escapeControls).join('\n');
}

/** @throws the error itself if it is a defect */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODES.ok : EXIT_CODES.usage;
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof RequestRefused) return exitCodeOfRefusal(error.status);
  if (error instanceof AppError) return error.code === 'unavailable' ? EXIT_CODES.unavailable : EXIT_CODES.dataError;
  if (error instanceof SettingsError || error instanceof StoreConfigError) return EXIT_CODES.configuration;
  if (error instanceof BackupTargetError) return EXIT_CODES.cannotCreate;
  if (error instanceof SourceMissing) return EXIT_CODES.noInput;
  if (error instanceof StoreInUse) return EXIT_CODES.inUse;
  if (error instanceof Unavailable) return EXIT_CODES.unavailable;
  const isOfData = [CopyError, BackupUnusable, UnknownService].some((kind) => error instanceof kind);
  if (isOfData) return EXIT_CODES.dataError;
  throw error;
}
