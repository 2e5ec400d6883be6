import { type Command, InvalidArgumentError } from 'commander';
import { type ApiKeyService, presentApiKey } from '../../../../application/auth/api-keys.js';
import type { SigningKeys } from '../../../../application/auth/signing-keys.js';
import { isScope, SCOPES, type Scope } from '../../../../domain/access.js';
import { type PhasedKey, signsFrom } from '../../../../domain/access-token.js';
import { API_KEY, validateExpiry } from '../../../../domain/api-key.js';
import { AppError } from '../../../../domain/errors.js';
import { parseInstant } from '../../../../domain/instant.js';
import { validateText } from '../../../../domain/text.js';
import { repetitionsIn } from '../../../../domain/validation.js';
import { escapeControls } from '../../../../shared/shown-text.js';
import type { CliContext } from '../context.js';
import { type Io, table, terminalJson, writeJson } from '../io.js';

interface CreateOptions {
  readonly name: string;
  readonly scopes: Scope[];
  readonly expiresAt?: number;
  readonly json?: boolean;
}

type ShownKey = ReturnType<typeof presentApiKey> & {
  readonly usage?: { readonly requests: number } | undefined;
};

type KeyTask = (
  use: (keys: ApiKeyService, signingKeys: SigningKeys) => Promise<void>,
  onNewDatabase?: (file: string) => void,
) => Promise<void>;

export function addKeys(program: Command, context: CliContext): void {
  const { io, loadTasks } = context;
  const administer = administering(context);
  const keys = program
    .command('keys')
    .summary('manage the API keys of the store')
    .description('Manages the API keys of the store, whether a service runs or not.')
    .addHelpText('after', '\nexample: catalogue keys list');

  keys
    .command('create')
    .summary('create an API key and print it')
    .description('Creates an API key and prints it. It is not shown again.')
    .requiredOption('--name <name>', 'the name of the key, 1 to 200 characters')
    .requiredOption('--scopes <scope,…>', `what the key may do: all, or some of ${SCOPES.join(' ')}`, parseScopes)
    .option('--expires-at <time>', 'when the key expires (RFC 3339), such as 2030-01-31T00:00:00Z', parseExpiry)
    .option('--json', 'print the key and its properties as JSON')
    .addHelpText('after', "\nexample: catalogue keys create --name 'web shop' --scopes products:read,orders:write")
    .action(async ({ name, scopes, expiresAt, json }: CreateOptions, command: Command) => {
      if (validateText(name, API_KEY.name).length > 0 || repeatedScopes(scopes).length > 0)
        command.error('error: --name takes 1 to 200 visible characters, and --scopes takes each scope once');
      const create = async (administration: ApiKeyService) => {
        const key = { name, scopes, ...(expiresAt !== undefined && { expiresAt }) };
        const created = await administration.create(key);
        const { id, fields } = created.record;
        const title = `Key ${id} (${escapeControls(fields.name)}): ${fields.scopes.join(' ')}`;
        const text = json
          ? terminalJson({ ...presentApiKey(created.record), key: created.key })
          : `${title}\nShown this once:\n${created.key}`;
        await io.stdout.deliver(`${text}\n`).catch(revokeUnseen(administration, id));
      };
      // Keys are created before the first start where machines are set up by a program.
      await administer(create, (file) =>
        io.stderr.write(`There was no database ${escapeControls(file)}; it is new.\n`),
      );
    });

  addList(
    keys
      .command('list')
      .summary('show every key, never its secret')
      .description(
        'Shows every key, never its secret: a table on a terminal, and a line of JSON for each key elsewhere.',
      )
      .addHelpText('after', '\nexample: catalogue keys list --json | jq -r .name'),
    io,
    ['ID', 'NAME', 'SCOPES', 'EXPIRES', 'LAST USED', 'REQUESTS, 24 H'],
    ({ id, name, scopes, expiresAt, lastUsedAt, usage }: ShownKey) => [
      `${id}`,
      name,
      scopes.length === SCOPES.length ? 'all' : scopes.join(' '),
      expiresAt ?? 'never',
      lastUsedAt ?? 'never',
      usage === undefined ? '-' : `${usage.requests}`,
    ],
    (show) =>
      administer(async (administration) => {
        for await (const key of administration.all()) show(presentApiKey(key));
      }),
  );

  keys
    .command('revoke')
    .summary('revoke a key permanently')
    .description('Revokes a key permanently. A running service refuses it within 5 seconds.')
    .argument('<id>', 'the id of the key, as keys list shows it', parseId)
    .addHelpText('after', '\nexample: catalogue keys revoke 2')
    .action((id: number) =>
      administer(async (administration) => {
        const { fields } = await administration.read(id).catch(noSuchKey(`key ${id}`));
        await administration.revoke(id).catch(noSuchKey(`key ${id}`));
        const name = escapeControls(fields.name);
        io.stdout.write(`Key ${id} (${name}) is revoked. A running service refuses it within 5 seconds.\n`);
      }),
    );

  keys
    .command('generate')
    .summary('print a new key that is stored nowhere')
    .description('Prints a new well-formed key that is stored nowhere, for the setting BOOTSTRAP_API_KEY.')
    .addHelpText('after', '\nexample: BOOTSTRAP_API_KEY=$(catalogue keys generate) npm start')
    .action(async () => {
      const { generateKey } = await loadTasks();
      io.stdout.write(`${generateKey()}\n`);
    });
}

export function addSigningKeys(program: Command, context: CliContext): void {
  const { io } = context;
  const administer = administering(context);
  const keys = program
    .command('signing-keys')
    .summary('manage the keys that sign access tokens')
    .description('Manages the keys that sign access tokens, whether a service runs or not.')
    .addHelpText('after', '\nexample: catalogue signing-keys rotate');

  addList(
    keys
      .command('list')
      .summary('show the keys, never their private parts')
      .description('Shows the keys, never their private parts: a table on a terminal, and lines of JSON elsewhere.')
      .addHelpText('after', '\nexample: catalogue signing-keys list'),
    io,
    ['ID', 'KID', 'PHASE', 'CREATED', 'SIGNS FROM'],
    ({ id, kid, phase, createdAt, signsFrom }: ReturnType<typeof presentSigningKey>) => [
      `${id}`,
      kid,
      phase,
      createdAt,
      signsFrom ?? '-',
    ],
    (show) =>
      administer(async (_, administration) => {
        for (const key of await administration.phased()) show(presentSigningKey(key));
      }),
  );

  keys
    .command('rotate')
    .summary('add a key, which signs ten minutes later')
    .description('Adds a key. It signs ten minutes later, when every replica and every cache knows it.')
    .addHelpText('after', '\nexample: catalogue signing-keys rotate')
    .action(() =>
      administer(async (_, administration) => {
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
      administer(async (_, administration) => {
        const kid = escapeControls(await administration.revoke(id).catch(noSuchKey(`signing key ${id}`)));
        io.stdout.write(
          `Signing key ${id} (${kid}) is deleted. A running service refuses its tokens within a minute.\n`,
        );
      }),
    );
}

function administering({ loadSettings, loadTasks }: CliContext): KeyTask {
  return async (use, onNewDatabase) => {
    const settings = loadSettings();
    await (await loadTasks()).administerKeys(settings, use, onNewDatabase);
  };
}

/** Makes a command list keys: as a table on a terminal, else each as a line of JSON as soon as it is read. */
function addList<Shown extends object>(
  command: Command,
  io: Io,
  heading: readonly string[],
  rowOf: (key: Shown) => string[],
  read: (show: (key: Shown) => void) => Promise<void>,
): void {
  command
    .option('--json', 'print a line of JSON for each key on a terminal as well')
    .action(async ({ json }: { readonly json?: boolean }) => {
      if (json || !io.stdout.isTTY) return read((key) => writeJson(io, key));
      const rows: string[][] = [];
      await read((key) => rows.push(rowOf(key)));
      io.stdout.write(await table(heading, rows));
    });
}

/** A signing key as the command line shows it: without its private part. */
function presentSigningKey({ key, phase }: PhasedKey) {
  const { id, createdAt, fields } = key;
  const time = (at: number) => new Date(at).toISOString();
  return {
    id,
    kid: fields.kid,
    algorithm: fields.algorithm,
    createdAt: time(createdAt),
    phase,
    signsFrom: phase === 'next' ? time(signsFrom(key)) : undefined,
  };
}

/** For a `catch`: revokes a key that could not be shown, because it will not be shown again. */
function revokeUnseen(administration: ApiKeyService, id: number): (error: Error) => Promise<never> {
  return async (error) => {
    error.message += await administration.revoke(id).then(
      () => `; key ${id} is revoked`,
      () => `; key ${id} was not shown and cannot be revoked now: catalogue keys revoke ${id}`,
    );
    throw error;
  };
}

/** For a `catch`: names the key that does not exist. */
function noSuchKey(key: string): (error: unknown) => never {
  return (error) => {
    const isMissing = error instanceof AppError && error.code === 'not_found';
    throw isMissing ? new AppError('not_found', `The store has no ${key}.`) : error;
  };
}

function parseId(text: string): number {
  if (/^[1-9]\d{0,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is not an id.');
}

const repeatedScopes = repetitionsIn(API_KEY.scopes);

function parseScopes(text: string): Scope[] {
  if (text === 'all') return [...SCOPES];
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
  throw new InvalidArgumentError('It must be a time in the future, such as 2030-01-31T00:00:00Z.');
}
