import { parseArgs } from 'node:util';
import type { IssuedApiKey, KeyAdministration } from './application/key-administration.js';
import { administerKeys } from './composition/administration.js';
import { generateKey } from './composition/container.js';
import { loadSettings } from './config/settings.js';
import { type ApiKey, isScope, SCOPES, type Scope } from './domain/access.js';
import { CatalogueError } from './domain/errors.js';
import type { Versioned } from './domain/record.js';
import { orExit, runService } from './run-service.js';

/** sysexits.h */
const EX_USAGE = 64;
const EX_TEMPFAIL = 75;

const USAGE = `usage: catalogue COMMAND
  serve                     run the service (the same as npm start)
  keys create --name NAME --scopes SCOPE[,SCOPE…] [--expires-at TIME]
                            make an API key in the store and print it, this once
  keys list                 show every key, never its secret
  keys revoke ID            make a key worthless
  keys generate             print a new well-formed key, stored nowhere (for BOOTSTRAP_API_KEY)
scopes: ${SCOPES.join(' ')}
TIME is as in RFC 3339, such as 2030-01-31T00:00:00Z. The store is the one that the settings name.
`;

class UsageError extends Error {}

type KeysCommand = (administration: KeyAdministration, args: string[]) => Promise<void>;

const KEYS_COMMANDS: Readonly<Record<string, KeysCommand>> = { create, list, revoke };

/** @returns the exit code */
export async function runCommand(args: string[]): Promise<number> {
  try {
    const [command, ...rest] = args;
    if (command === 'serve' && rest.length === 0) await runService();
    else if (command === 'keys') await runKeys(rest);
    else if (command === 'help' || command === '--help') say(USAGE);
    else throw new UsageError(`unknown command: ${args.join(' ') || '(none)'}`);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) return complain(`${error.message}\n${USAGE}`, EX_USAGE);
    if (!(error instanceof CatalogueError)) throw error;
    return complain(`${error.message}\n`, error.code === 'unavailable' ? EX_TEMPFAIL : 1);
  }
}

async function runKeys([name = '', ...args]: string[]): Promise<void> {
  if (name === 'generate' && args.length === 0) return say(`${generateKey()}\n`);
  const command = Object.hasOwn(KEYS_COMMANDS, name) ? KEYS_COMMANDS[name] : undefined;
  if (!command) throw new UsageError(`unknown command: keys ${name}`);
  await administerKeys(orExit(loadSettings), (keys) => command(keys, args));
}

async function create(administration: KeyAdministration, args: string[]): Promise<void> {
  const { values } = parse(args, ['name', 'scopes', 'expires-at']);
  if (!values['name'] || !values['scopes']) throw new UsageError('keys create needs --name and --scopes');
  const expiresAt = values['expires-at'];
  const issued = await administration.create({
    name: values['name'],
    scopes: values['scopes'].split(',').map(scope),
    ...(expiresAt !== undefined && { expiresAt: instant(expiresAt) }),
  });
  say(described(issued));
}

async function list(administration: KeyAdministration, args: string[]): Promise<void> {
  parse(args, []);
  for await (const key of administration.all()) say(`${JSON.stringify(shown(key))}\n`);
}

async function revoke(administration: KeyAdministration, args: string[]): Promise<void> {
  const { positionals } = parse(args, [], true);
  const [id = ''] = positionals;
  if (positionals.length !== 1 || !/^[1-9]\d*$/.test(id)) throw new UsageError('keys revoke needs one id');
  await administration.revoke(Number(id));
  say(`Key ${id} is revoked. A running service refuses it within 5 seconds.\n`);
}

function parse(args: string[], options: readonly string[], allowPositionals = false) {
  try {
    const known = Object.fromEntries(options.map((name) => [name, { type: 'string' as const }]));
    return parseArgs({ args, options: known, allowPositionals });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function scope(text: string): Scope {
  if (isScope(text)) return text;
  throw new UsageError(`there is no scope ${JSON.stringify(text)}`);
}

function instant(text: string): number {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (Number.isNaN(time)) throw new UsageError('--expires-at takes a time such as 2030-01-31T00:00:00Z');
  return time;
}

function described({ record, key }: IssuedApiKey): string {
  return `Key ${record.id} (${record.fields.name}): ${record.fields.scopes.join(' ')}\nShown this once:\n${key}\n`;
}

function shown({
  id,
  createdAt,
  fields: { name, scopes, expiresAt, lastUsedAt },
}: Versioned<ApiKey>): object {
  return {
    id,
    name,
    scopes,
    expiresAt: time(expiresAt),
    createdAt: time(createdAt),
    lastUsedAt: time(lastUsedAt),
  };
}

function time(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}

function say(text: string): void {
  process.stdout.write(text);
}

function complain(text: string, code: number): number {
  process.stderr.write(text);
  return code;
}
