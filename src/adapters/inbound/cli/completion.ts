import type { Command } from 'commander';

export type Shell = 'bash' | 'zsh' | 'fish';

interface Word {
  readonly word: string;
  readonly help: string;
  /** Whether it is an option with a value. */
  readonly takesValue: boolean;
  /** The possible values; undefined: a file, or anything else. */
  readonly choices?: readonly string[] | undefined;
}

/** A command with what may follow it. */
interface Entry {
  /** The words behind `catalogue`: `keys create`. */
  readonly path: string;
  readonly words: readonly Word[];
  /** Whether its argument is a file. */
  readonly takesFile: boolean;
}

/** For each shell: the script that completes the commands, options and choices of a program. */
export const COMPLETIONS: Readonly<Record<Shell, (program: Command) => string>> = { bash, zsh, fish };

/** The program and all its commands. */
function entriesOf(command: Command, path: readonly string[] = []): Entry[] {
  const visible = command.createHelp().visibleCommands(command);
  const options = command.createHelp().visibleOptions(command);
  const entry = {
    path: path.join(' '),
    words: [
      ...visible.map((one) => ({
        word: one.name(),
        help: one.summary() || one.description(),
        takesValue: false,
      })),
      ...command.registeredArguments
        .flatMap(({ argChoices = [] }) => argChoices)
        .map((word) => ({ word, help: '', takesValue: false })),
      ...options.flatMap(({ short, long, description, required, argChoices }) =>
        [short, long]
          .filter((word) => word !== undefined)
          .map((word) => ({ word, help: description, takesValue: required, choices: argChoices })),
      ),
    ],
    takesFile: command.registeredArguments.some((argument) => argument.name() === 'file'),
  };
  return [entry, ...command.commands.flatMap((one) => entriesOf(one, [...path, one.name()]))];
}

/** Bash has no descriptions. Options without choices, and arguments that are files, complete files. */
function bash(program: Command): string {
  const entries = entriesOf(program);
  return `# catalogue completion for bash
_catalogue() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} path= word at
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    case "$path $word" in
${entries
  .filter(({ path }) => path !== '')
  .map(({ path }) => `      ${quoted(` ${path}`)}) path=${quoted(` ${path}`)} ;;`)
  .join('\n')}
    esac
  done
  case "$path $previous" in
${valuesOf(entries)
  .map(
    ({ place, choices }) =>
      `    ${quoted(place)}) COMPREPLY=($(compgen ${choices ? `-W ${quoted(choices.join(' '))}` : '-f'} -- "$current")); return ;;`,
  )
  .join('\n')}
  esac
  case "$path" in
${entries
  .map(({ path, words, takesFile }) => {
    const list = quoted(words.map(({ word }) => word).join(' '));
    const files = takesFile ? '; [[ $current == -* ]] || COMPREPLY+=($(compgen -f -- "$current"))' : '';
    return `    ${quoted(path && ` ${path}`)}) COMPREPLY=($(compgen -W ${list} -- "$current"))${files} ;;`;
  })
  .join('\n')}
  esac
}
complete -o filenames -F _catalogue catalogue
`;
}

function zsh(program: Command): string {
  const entries = entriesOf(program);
  return `#compdef catalogue
# catalogue completion for zsh
_catalogue() {
  local route= word at
  local -a found
  for ((at = 2; at < CURRENT; at++)); do
    word=\${words[at]}
    case "$route $word" in
${entries
  .filter(({ path }) => path !== '')
  .map(({ path }) => `      ${quoted(` ${path}`)}) route=${quoted(` ${path}`)} ;;`)
  .join('\n')}
    esac
  done
  case "$route \${words[CURRENT - 1]}" in
${valuesOf(entries)
  .map(
    ({ place, choices }) =>
      `    ${quoted(place)}) ${choices ? `compadd ${choices.map(quoted).join(' ')}` : '_files'}; return ;;`,
  )
  .join('\n')}
  esac
  case "$route" in
${entries
  .map(({ path, words, takesFile }) => {
    const described = words
      .map(({ word, help }) => quoted(`${word}:${help.replaceAll('\n', ' ')}`))
      .join(' ');
    return `    ${quoted(path && ` ${path}`)}) found=(${described})${takesFile ? '; _files' : ''} ;;`;
  })
  .join('\n')}
  esac
  _describe catalogue found
}
compdef _catalogue catalogue
`;
}

function fish(program: Command): string {
  const entries = entriesOf(program);
  const paths = entries.map(({ path }) => path).filter((path) => path !== '');
  return `# catalogue completion for fish
function __catalogue_path
  set -l path ''
  for word in (commandline -opc)[2..-1]
    switch "$path $word"
${paths.map((path) => `      case ${quoted(` ${path}`)}\n        set path ${quoted(` ${path}`)}`).join('\n')}
    end
  end
  echo "$path"
end
complete -c catalogue -f
${entries
  .flatMap(({ path, words, takesFile }) => {
    const here = `test "$(__catalogue_path)" = ${quoted(path && ` ${path}`)}`;
    const lines = words.map(({ word, help, takesValue, choices }) => {
      const name = word.startsWith('--')
        ? `-l ${word.slice(2)}`
        : word.startsWith('-')
          ? `-s ${word.slice(1)}`
          : `-a ${quoted(word)}`;
      const value = choices ? ` -x -a ${quoted(choices.join(' '))}` : ' -rF';
      return `complete -c catalogue -n ${quoted(here)} ${name}${takesValue ? value : ''} -d ${quoted(help.replaceAll('\n', ' '))}`;
    });
    return takesFile ? [...lines, `complete -c catalogue -n ${quoted(here)} -F`] : lines;
  })
  .join('\n')}
`;
}

/** The options that take a value: each behind the words of its command, and its choices. */
function valuesOf(entries: readonly Entry[]): Pick<Word & { readonly place: string }, 'place' | 'choices'>[] {
  return entries.flatMap(({ path, words }) =>
    words
      .filter(({ takesValue }) => takesValue)
      .map(({ word, choices }) => ({ place: `${path && ` ${path}`} ${word}`, choices })),
  );
}

/** A word of all three shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}
