import type { SigningKeyAdministration } from '../application/auth/signing-key-administration.js';
import { administerSigningKeys } from '../composition/administration.js';
import { loadSettings } from '../config/settings.js';
import { type PhasedKey, signsFrom } from '../domain/signing-key.js';
import { orExit } from '../processes/ending.js';
import { parse, say, UsageError } from './arguments.js';

type SigningKeysCommand = (administration: SigningKeyAdministration, args: string[]) => Promise<void>;

const COMMANDS: Readonly<Record<string, SigningKeysCommand>> = { list, rotate, revoke };

export async function runSigningKeys([name = '', ...args]: string[]): Promise<void> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new UsageError(`unknown command: signing-keys ${name}`);
  await administerSigningKeys(orExit(loadSettings), (keys) => command(keys, args));
}

async function list(administration: SigningKeyAdministration, args: string[]): Promise<void> {
  parse(args, []);
  for (const phased of await administration.phased()) say(`${JSON.stringify(shown(phased))}\n`);
}

async function rotate(administration: SigningKeyAdministration, args: string[]): Promise<void> {
  parse(args, []);
  const id = await administration.rotate();
  say(`Signing key ${id} is published from now on, and signs in ten minutes. Older tokens stay good.\n`);
}

async function revoke(administration: SigningKeyAdministration, args: string[]): Promise<void> {
  const { positionals } = parse(args, [], true);
  const [id = ''] = positionals;
  if (positionals.length !== 1 || !/^[1-9]\d*$/.test(id))
    throw new UsageError('signing-keys revoke needs one id');
  await administration.revoke(Number(id));
  say(`Signing key ${id} is gone. A running service refuses its tokens within a minute.\n`);
}

/** Never the key itself. */
function shown({ key, phase }: PhasedKey): object {
  const { id, createdAt, fields } = key;
  const phases = { phase, ...(phase === 'next' && { signsFrom: time(signsFrom(key)) }) };
  return { id, kid: fields.kid, algorithm: fields.algorithm, createdAt: time(createdAt), ...phases };
}

function time(at: number): string {
  return new Date(at).toISOString();
}
