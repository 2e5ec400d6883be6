import { CopyError } from './application/copy-archive.js';
import { BackupTargetError } from './application/ports/backup.js';
import { UnusableStore } from './application/ports/store.js';
import { say, UsageError } from './commands/arguments.js';
import { runBackup } from './commands/backup.js';
import { runCopy } from './commands/copy.js';
import { Interrupted } from './commands/interruption.js';
import { runKeys } from './commands/keys.js';
import { runOpenApi } from './commands/openapi.js';
import { runSeed } from './commands/seed.js';
import { runSigningKeys } from './commands/signing-keys.js';
import { SCOPES } from './domain/access.js';
import { CatalogueError } from './domain/errors.js';
import { runService } from './run-service.js';
import { masking } from './shared/redact.js';

/** sysexits.h */
const EX_USAGE = 64;
const EX_CANTCREAT = 73;
const EX_TEMPFAIL = 75;

const USAGE = `usage: catalogue COMMAND
  serve                     run the service (the same as npm start)
  keys create --name NAME --scopes SCOPE[,SCOPE…] [--expires-at TIME]
                            make an API key in the store and print it, this once
  keys list                 show every key, never its secret
  keys revoke ID            make a key worthless
  keys generate             print a new well-formed key, stored nowhere (for BOOTSTRAP_API_KEY)
  signing-keys list         show the keys that sign OAuth tokens, never the keys themselves
  signing-keys rotate       make another; it signs when every replica and every cache knows it
  signing-keys revoke ID    forget one at once, with all tokens that it signed
  seed --products N [--seed S]
                            make the sample products 1 to N of a seed (default 1), but for those that are there
  copy --from URL --to URL  bring one store to hold what another holds, and verify it; safe to run again
  backup FILE               copy the SQLite database to a new file and check the copy, while the service runs or not
  openapi                   print the description of the interface (OpenAPI 3.1)
scopes: ${SCOPES.join(' ')}
TIME is as in RFC 3339, such as 2030-01-31T00:00:00Z. Keys and products are those of the store that the settings name.
URL is sqlite:FILE or mongodb://…; stop the service of the store that is copied from.
`;

type Command = (args: string[]) => Promise<void> | void;

const COMMANDS: Readonly<Record<string, Command>> = {
  serve: (args) => {
    if (args.length > 0)
      throw new UsageError('serve takes no arguments; its settings are in the environment');
    return runService();
  },
  keys: runKeys,
  'signing-keys': runSigningKeys,
  seed: runSeed,
  copy: runCopy,
  backup: runBackup,
  openapi: runOpenApi,
  help: () => say(USAGE),
  '--help': () => say(USAGE),
};

/** @returns the exit code */
export async function runCommand([name = '', ...args]: string[]): Promise<number> {
  try {
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (!command) throw new UsageError(`unknown command: ${name || '(none)'}`);
    await command(args);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) return complain(`${error.message}\n${USAGE}`, EX_USAGE);
    if (error instanceof Interrupted) return complain(`${error.message}\n`, error.exitCode);
    if (error instanceof BackupTargetError) return complain(`${error.message}\n`, EX_CANTCREAT);
    if (error instanceof CopyError || error instanceof UnusableStore)
      return complain(`${error.message}\n`, 1);
    if (!(error instanceof CatalogueError)) throw error;
    return complain(`${error.message}\n`, error.code === 'unavailable' ? EX_TEMPFAIL : 1);
  }
}

function complain(text: string, code: number): number {
  process.stderr.write(masking(text));
  return code;
}
