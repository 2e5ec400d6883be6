import type { KeyAdministration } from '../application/auth/key-administration.js';
import { presentApiKey } from '../application/auth/key-administration.js';
import { administerKeys } from '../composition/administration.js';
import { generateKey } from '../composition/container.js';
import { loadSettings } from '../config/settings.js';
import { expiryFaults, isScope, type Scope, validateApiKey } from '../domain/access.js';
import { parseInstant } from '../domain/instant.js';
import { orExit } from '../processes/ending.js';
import { parse, say, UsageError } from './arguments.js';

type Act = (administration: KeyAdministration) => Promise<void>;

/** Each judges its arguments, all of them, before there is a store. */
const KEYS_COMMANDS: Readonly<Record<string, (args: string[]) => Act>> = { create, list, revoke };

export async function runKeys([name = '', ...args]: string[]): Promise<void> {
  if (name === 'generate' && args.length === 0) return say(`${generateKey()}\n`);
  const command = Object.hasOwn(KEYS_COMMANDS, name) ? KEYS_COMMANDS[name] : undefined;
  if (!command) throw new UsageError(`unknown command: keys ${name}`);
  const act = command(args);
  await administerKeys(orExit(loadSettings), act);
}

function create(args: string[]): Act {
  const { values } = parse(args, ['name', 'scopes', 'expires-at']);
  const { name, scopes, 'expires-at': end } = values;
  if (!name || !scopes) throw new UsageError('keys create needs --name and --scopes');
  const key = {
    name,
    scopes: scopes.split(',').map(scope),
    ...(end !== undefined && { expiresAt: instant(end) }),
  };
  if (validateApiKey(key).length > 0)
    throw new UsageError('--name takes 1 to 200 characters that can be read, and --scopes each scope once');
  return async (administration) => say(described(await administration.create(key)));
}

function list(args: string[]): Act {
  parse(args, []);
  return async (administration) => {
    for await (const key of administration.all()) say(`${JSON.stringify(presentApiKey(key))}\n`);
  };
}

function revoke(args: string[]): Act {
  const { positionals } = parse(args, [], true);
  const [id = ''] = positionals;
  if (positionals.length !== 1 || !/^[1-9]\d{0,15}$/.test(id))
    throw new UsageError('keys revoke needs one id');
  return async (administration) => {
    await administration.revoke(Number(id));
    say(`Key ${id} is revoked. A running service refuses it within 5 seconds.\n`);
  };
}

function scope(text: string): Scope {
  if (isScope(text)) return text;
  throw new UsageError(`there is no scope ${JSON.stringify(text)}`);
}

function instant(text: string): number {
  const time = parseInstant(text);
  // What is kept has whole milliseconds.
  const whole = time === undefined ? Number.NaN : Math.floor(time);
  if (expiryFaults(whole, Date.now()).length === 0) return whole;
  throw new UsageError('--expires-at takes a time to come, such as 2030-01-31T00:00:00Z');
}

function described({ record, key }: Awaited<ReturnType<KeyAdministration['create']>>): string {
  return `Key ${record.id} (${record.fields.name}): ${record.fields.scopes.join(' ')}\nShown this once:\n${key}\n`;
}
