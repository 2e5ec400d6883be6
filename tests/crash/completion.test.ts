import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { python } from '../support/python.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { runInProcess } from '../unit/adapters/inbound/cli/run-command.js';

/** Types the line sys.argv[2] and two Tabs into an interactive zsh with the script sys.argv[1]; prints the terminal. */
const IN_ZSH = `
import os, pty, select, sys
pid, terminal = pty.fork()
if pid == 0:
    os.environ.update(TERM='dumb', PS1='> ', LINES='50', COLUMNS='200')
    os.execvp('zsh', ['zsh', '-f', '-i'])
def read(until):
    received = b''
    while until not in received:
        if not select.select([terminal], [], [], 20)[0]: sys.exit('no %r in %r' % (until, received))
        received += os.read(terminal, 65536)
    return received
os.write(terminal, b'autoload -U compinit; compinit -D -u; setopt no_auto_menu list_ambiguous; source %s; echo rea""dy\\n' % sys.argv[1].encode())
read(b'ready')
os.write(terminal, sys.argv[2].encode() + b'\\t\\t')
shown = read(sys.argv[3].encode())
os.kill(pid, 9)
print(shown.decode())
`;

/** What each shell offers for a line. */
const OFFERED: readonly [line: string, offers: readonly string[]][] = [
  ['catalogue ke', ['keys']],
  ['catalogue keys ', ['create', 'generate', 'list', 'revoke']],
  ['catalogue keys create --sc', ['--scopes']],
  ['catalogue completion ', ['bash', 'zsh', 'fish']],
  ['catalogue check --', ['--deep', '--json', '--help']],
  ['catalogue signing-keys rot', ['rotate']],
  ['catalogue restore back', ['backup.sqlite']],
  ['catalogue import back', ['backup.sqlite']],
  ['catalogue import x.csv --resource ', ['products', 'users', 'orders']],
  ['catalogue import x.csv --existing re', ['replace']],
  ['catalogue import x.csv --refused back', ['backup.sqlite']],
];

describe('the completion script', () => {
  const folder = temporaryFolder();
  const script = (shell: string) => join(folder, `${shell}.sh`);

  before(async () => {
    writeFileSync(join(folder, 'backup.sqlite'), '');
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { status, error } = spawnSync(shell, ['--version']);
      if (status !== 0)
        throw new Error(`${shell} is missing; on Debian: apt-get install -y zsh fish (${error?.message})`);
      const { code, out } = await runInProcess(['completion', shell]);
      expect(code).to.equal(0);
      writeFileSync(script(shell), out);
    }
  });

  const run = (shell: string, program: string, ...args: string[]) =>
    execFileSync(shell, ['-c', program, ...args], { cwd: folder, encoding: 'utf8' })
      .split('\n')
      .map((line) => line.split('\t')[0])
      .filter((line) => line !== '');

  for (const [line, offers] of OFFERED)
    it(`offers ${offers.join(', ')} in bash and fish: ${line}`, () => {
      const words = `source ${script('bash')}; COMP_WORDS=(${line.endsWith(' ') ? `${line} ''` : line})
        COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _catalogue; printf '%s\\n' "\${COMPREPLY[@]}"`;
      expect(run('bash', words), 'bash').to.include.members([...offers]);
      const fish = run('fish', `source ${script('fish')}; complete -C "$argv[1]"`, line);
      expect(fish, 'fish').to.include.members([...offers]);
      expect(fish).to.not.include('seed');
    });

  for (const [line, shows] of [
    ['catalogue ke', 'keys '],
    ['catalogue keys cr', 'catalogue keys create'],
    ['catalogue keys create --sc', '--scopes'],
    ['catalogue completion f', 'catalogue completion fish'],
    ['catalogue import x.csv --existing re', '--existing replace'],
    ['catalogue signing-keys ', 'add a key, which signs ten minutes later'],
  ] as const)
    it(`completes in zsh: ${line}`, async () => {
      expect(await python(IN_ZSH, script('zsh'), line, shows)).to.include(shows);
    });
});
