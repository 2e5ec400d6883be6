import type { Command } from 'commander';
import type { SigningKeys } from '../../../../application/auth/signing-keys.js';
import { type PhasedKey, signsFrom } from '../../../../domain/access-token.js';
import { escapeControls } from '../../../../shared/shown-text.js';
import type { CliContext } from '../context.js';
import { writeJson } from '../io.js';
import { noSuchKey, parseId } from './keys.js';

export function addSigningKeys(program: Command, { io, loadSettings, loadTasks }: CliContext): void {
  const administer = async (use: (keys: SigningKeys) => Promise<void>) => {
    const settings = loadSettings();
    await (await loadTasks()).administerSigningKeys(settings, use);
  };
  const keys = program
    .command('signing-keys')
    .summary('manage the keys that sign access tokens')
    .description('Manages the keys that sign access tokens, whether a service runs or not.')
    .addHelpText('after', '\nexample: catalogue signing-keys rotate');

  keys
    .command('list')
    .summary('show the keys, never their private parts')
    .description(
      'Shows the keys, never their private parts: a table on a terminal, and lines of JSON elsewhere.',
    )
    .option('--json', 'print a line of JSON for each key on a terminal as well')
    .addHelpText('after', '\nexample: catalogue signing-keys list')
    .action(({ json }: { readonly json?: boolean }) =>
      administer(async (administration) => {
        const keys = (await administration.phased()).map(presentSigningKey);
        if (json || !io.stdout.isTTY) {
          for (const key of keys) writeJson(io, key);
          return;
        }
        const { table } = await import('../table.js');
        const rows = keys.map(({ id, kid, phase, createdAt, signsFrom }) => [
          `${id}`,
          kid,
          phase,
          createdAt,
          signsFrom ?? '-',
        ]);
        io.stdout.write(table(['ID', 'KID', 'PHASE', 'CREATED', 'SIGNS FROM'], rows));
      }),
    );

  keys
    .command('rotate')
    .summary('add a key, which signs ten minutes later')
    .description('Adds a key. It signs ten minutes later, when every replica and every cache knows it.')
    .addHelpText('after', '\nexample: catalogue signing-keys rotate')
    .action(() =>
      administer(async (administration) => {
        const id = await administration.rotate();
        io.stdout.write(
          `Signing key ${id} is published from now on, and signs in ten minutes. Existing tokens stay valid.\n`,
        );
      }),
    );

  keys
    .command('revoke')
    .summary('delete a key, and so all tokens that it signed')
    .description('Deletes a key. All tokens that it signed become invalid within a minute.')
    .argument('<id>', 'the id of the key, as signing-keys list shows it', parseId)
    .addHelpText('after', '\nexample: catalogue signing-keys revoke 1')
    .action((id: number) =>
      administer(async (administration) => {
        const kid = escapeControls(await administration.revoke(id).catch(noSuchKey(`signing key ${id}`)));
        io.stdout.write(
          `Signing key ${id} (${kid}) is deleted. A running service refuses its tokens within a minute.\n`,
        );
      }),
    );
}

/** A signing key as the command line shows it: without its private part. */
function presentSigningKey({ key, phase }: PhasedKey) {
  const { id, createdAt, fields } = key;
  return {
    id,
    kid: fields.kid,
    algorithm: fields.algorithm,
    createdAt: time(createdAt),
    phase,
    signsFrom: phase === 'next' ? time(signsFrom(key)) : undefined,
  };
}

function time(at: number): string {
  return new Date(at).toISOString();
}
