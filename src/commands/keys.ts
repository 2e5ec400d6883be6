import type { IssuedApiKey, KeyAdministration } from '../application/key-administration.js';
import { administerKeys } from '../composition/administration.js';
import { generateKey } from '../composition/container.js';
import { loadSettings } from '../config/settings.js';
import { type ApiKey, isScope, type Scope } from '../domain/access.js';
import { parseInstant } from '../domain/instant.js';
import type { Versioned } from '../domain/record.js';
import { orExit } from '../processes/ending.js';
import { parse, say, UsageError } from './arguments.js';

type KeysCommand = (administration: KeyAdministration, args: string[]) => Promise<void>;

const KEYS_COMMANDS: Readonly<Record<string, KeysCommand>> = { create, list, revoke };

export async function runKeys([name = '', ...args]: string[]): Promise<void> {
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

function scope(text: string): Scope {
  if (isScope(text)) return text;
  throw new UsageError(`there is no scope ${JSON.stringify(text)}`);
}

function instant(text: string): number {
  const time = parseInstant(text);
  if (time === undefined || time <= Date.now()) {
    throw new UsageError('--expires-at takes a time to come, such as 2030-01-31T00:00:00Z');
  }
  // What is kept has whole milliseconds.
  return Math.floor(time);
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
