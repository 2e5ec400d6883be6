import { expect } from 'chai';
import { UsageError } from '#src/commands/arguments.js';
import { runKeys } from '#src/commands/keys.js';

/** Each is refused before a setting is read or a store opened: there is none here. */
describe('the arguments of catalogue keys', () => {
  const create = (name: string, scopes: string, ...more: string[]) => [
    'create',
    '--name',
    name,
    '--scopes',
    scopes,
    ...more,
  ];
  const end = (time: string) => create('x', 'products:read', '--expires-at', time);

  const WRONG: readonly (readonly [what: string, args: string[], says: RegExp])[] = [
    ['an unknown command', ['toString'], /unknown command/],
    ['no name', ['create', '--scopes', 'products:read'], /--name/],
    ['a blank name', create(' ', 'products:read'), /--name/],
    ['a long name', create('x'.repeat(201), 'products:read'), /--name/],
    ['no scopes', ['create', '--name', 'x'], /--scopes/],
    ['an unknown scope', create('x', 'products:read,products:own'), /products:own/],
    ['a repeated scope', create('x', 'products:read,users:read,products:read'), /--scopes/],
    ['an empty scope', create('x', 'products:read,'), /no scope ""/],
    ['an end that is no time', end('tomorrow'), /--expires-at/],
    ['an end on no day', end('2090-02-31T00:00:00Z'), /--expires-at/],
    ['an end in the past', end('2020-01-01T00:00:00Z'), /--expires-at/],
    ['an end that cannot be told', end('9999-12-31T23:59:59-01:00'), /--expires-at/],
    ['something more', create('x', 'products:read', 'y'), /y/],
    ['a list of something', ['list', 'all'], /all/],
    ['no id', ['revoke'], /one id/],
    ['a wrong id', ['revoke', '01'], /one id/],
    ['several ids', ['revoke', '1', '2'], /one id/],
  ];

  for (const [what, args, says] of WRONG) {
    it(`are refused: ${what}`, async () => {
      const error = await runKeys(args).catch((error: unknown) => error);
      expect(error).to.be.instanceOf(UsageError);
      expect((error as Error).message).to.match(says);
    });
  }
});
