import { type Command, InvalidArgumentError } from 'commander';
import { type KeyAdministration, presentApiKey } from '../../../../application/auth/key-administration.js';
import { isScope, SCOPES, type Scope, validateApiKey, validateExpiry } from '../../../../domain/access.js';
import { parseInstant } from '../../../../domain/instant.js';
import type { CliContext } from '../context.js';

interface CreateOptions {
  readonly name: string;
  readonly scopes: Scope[];
  readonly expiresAt?: number;
}

export function addKeys(program: Command, { io, loadSettings, loadTasks }: CliContext): void {
  const administer = async (use: (keys: KeyAdministration) => Promise<void>) => {
    const settings = loadSettings();
    await (await loadTasks()).administerKeys(settings, use);
  };
  const keys = program.command('keys').description('manage the API keys of the store');

  keys
    .command('create')
    .description('create an API key and print it; it is not shown again')
    .requiredOption('--name <name>', 'the name of the key, 1 to 200 characters')
    .requiredOption('--scopes <scope,…>', `what the key may do: ${SCOPES.join(' ')}`, parseScopes)
    .option(
      '--expires-at <time>',
      'when the key expires (RFC 3339), such as 2030-01-31T00:00:00Z',
      parseExpiry,
    )
    .action(async ({ name, scopes, expiresAt }: CreateOptions, command: Command) => {
      const key = { name, scopes, ...(expiresAt !== undefined && { expiresAt }) };
      if (validateApiKey(key).length > 0) {
        command.error('error: --name takes 1 to 200 visible characters, and --scopes takes each scope once');
      }
      await administer(async (administration) => {
        const created = await administration.create(key);
        const { id, fields } = created.record;
        io.stdout.write(`Key ${id} (${fields.name}): ${fields.scopes.join(' ')}\n`);
        io.stdout.write(`Shown this once:\n${created.key}\n`);
      });
    });

  keys
    .command('list')
    .description('show every key, never its secret')
    .action(() =>
      administer(async (administration) => {
        for await (const key of administration.all())
          io.stdout.write(`${JSON.stringify(presentApiKey(key))}\n`);
      }),
    );

  keys
    .command('revoke')
    .description('revoke a key permanently')
    .argument('<id>', 'the id of the key', parseId)
    .action((id: number) =>
      administer(async (administration) => {
        await administration.revoke(id);
        io.stdout.write(`Key ${id} is revoked. A running service refuses it within 5 seconds.\n`);
      }),
    );

  keys
    .command('generate')
    .description('print a new well-formed key, stored nowhere (for BOOTSTRAP_API_KEY)')
    .action(async () => {
      const { generateKey } = await loadTasks();
      io.stdout.write(`${generateKey()}\n`);
    });
}

/** Parses the id of an API key or a signing key. */
export function parseId(text: string): number {
  if (/^[1-9]\d{0,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is not an id.');
}

function parseScopes(text: string): Scope[] {
  return text.split(',').map((scope) => {
    if (isScope(scope)) return scope;
    throw new InvalidArgumentError(`There is no scope ${JSON.stringify(scope)}.`);
  });
}

function parseExpiry(text: string): number {
  const time = parseInstant(text);
  // The store keeps whole milliseconds.
  const whole = time === undefined ? Number.NaN : Math.floor(time);
  if (validateExpiry(whole, Date.now()).length === 0) return whole;
  throw new InvalidArgumentError('It must be a time in the future.');
}
