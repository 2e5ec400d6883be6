import type { Command } from 'commander';
import type { SigningKeyAdministration } from '../../../../application/auth/signing-key-administration.js';
import { type PhasedKey, signsFrom } from '../../../../domain/signing-key.js';
import type { CliContext } from '../context.js';
import { parseId } from './keys.js';

export function addSigningKeys(program: Command, { io, loadSettings, loadTasks }: CliContext): void {
  const administer = async (use: (keys: SigningKeyAdministration) => Promise<void>) => {
    const settings = loadSettings();
    await (await loadTasks()).administerSigningKeys(settings, use);
  };
  const keys = program.command('signing-keys').description('manage the keys that sign access tokens');

  keys
    .command('list')
    .description('show the keys that sign access tokens, never their private parts')
    .action(() =>
      administer(async (administration) => {
        for (const phased of await administration.phased())
          io.stdout.write(`${JSON.stringify(presentSigningKey(phased))}\n`);
      }),
    );

  keys
    .command('rotate')
    .description('make another key; it signs after every replica and every cache knows it')
    .action(() =>
      administer(async (administration) => {
        const id = await administration.rotate();
        io.stdout.write(
          `Signing key ${id} is published from now on, and signs in ten minutes. Older tokens stay good.\n`,
        );
      }),
    );

  keys
    .command('revoke')
    .description('delete a key immediately; all tokens that it signed become invalid')
    .argument('<id>', 'the id of the key', parseId)
    .action((id: number) =>
      administer(async (administration) => {
        await administration.revoke(id);
        io.stdout.write(`Signing key ${id} is gone. A running service refuses its tokens within a minute.\n`);
      }),
    );
}

/** A signing key as the command line shows it: without its private part. */
function presentSigningKey({ key, phase }: PhasedKey): object {
  const { id, createdAt, fields } = key;
  return {
    id,
    kid: fields.kid,
    algorithm: fields.algorithm,
    createdAt: time(createdAt),
    phase,
    ...(phase === 'next' && { signsFrom: time(signsFrom(key)) }),
  };
}

function time(at: number): string {
  return new Date(at).toISOString();
}
