import { Argument, type Command } from 'commander';
import type { CliContext } from '../context.js';

const INSTALL = `
bash: add this line to ~/.bashrc:   eval "$(catalogue completion bash)"
zsh:  add this line to ~/.zshrc, behind compinit:   eval "$(catalogue completion zsh)"
fish: catalogue completion fish > ~/.config/fish/completions/catalogue.fish

example: eval "$(catalogue completion bash)"`;

export function addCompletion(program: Command, { io }: CliContext): void {
  program
    .command('completion')
    .summary('print the completion script of a shell')
    .description('Prints a script with which a shell completes the commands and options of catalogue.')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', INSTALL)
    .action((shell: keyof typeof SCRIPTS) => {
      io.stdout.write(SCRIPTS[shell](entriesOf(program)));
    });
}

/** For each shell: the script that completes the commands, options and choices of a program. */
const SCRIPTS = { bash, zsh, fish };

interface Word {
  readonly word: string;
  readonly help: string;
  /** Whether it is an option with a value. */
  readonly takesValue?: boolean;
  /** The possible values; undefined: a file, or anything else. */
  readonly choices?: readonly string[] | undefined;
}

/** A command with what may follow it. */
interface Entry {
  /** The words behind `catalogue`, each behind a space: ` keys create`. */
  readonly place: string;
  readonly words: readonly Word[];
  /** Whether its argument is a file. */
  readonly takesFile: boolean;
}

/** The program and all its commands. */
function entriesOf(command: Command, place = ''): Entry[] {
  const help = command.createHelp();
  const words: Word[] = [
    ...help.visibleCommands(command).map((one) => ({ word: one.name(), help: one.summary() || one.description() })),
    ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices).map((word) => ({ word, help: '' })),
    ...help
      .visibleOptions(command)
      .flatMap(({ short, long, description, required, argChoices }) =>
        [short, long]
          .filter((word) => word !== undefined)
          .map((word) => ({ word, help: description, takesValue: required, choices: argChoices })),
      ),
  ];
  const takesFile = command.registeredArguments.some((argument) => argument.name() === 'file');
  return [
    { place, words: words.map((one) => ({ ...one, help: one.help.replaceAll('\n', ' ') })), takesFile },
    ...command.commands.flatMap((one) => entriesOf(one, `${place} ${one.name()}`)),
  ];
}

/** The lines of a `case` for each command but the program itself. */
function commandCases(entries: readonly Entry[], line: (place: string) => string): string {
  return lines(entries.slice(1), ({ place }) => line(quoted(place)));
}

/** The lines of a `case` for each option that takes a value. */
function valueCases(entries: readonly Entry[], action: (choices: Word['choices']) => string): string {
  const options = entries.flatMap(({ place, words }) =>
    words.filter(({ takesValue }) => takesValue).map((one) => ({ ...one, place: `${place} ${one.word}` })),
  );
  return lines(options, ({ place, choices }) => `    ${quoted(place)}) ${action(choices)}; return ;;`);
}

/** Bash has no descriptions. Options without choices, and arguments that are files, complete files. */
function bash(entries: readonly Entry[]): string {
  return `# catalogue completion for bash
_catalogue() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} path= word at
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    case "$path $word" in
${commandCases(entries, (place) => `      ${place}) path=${place} ;;`)}
    esac
  done
  case "$path $previous" in
${valueCases(entries, (choices) => `COMPREPLY=($(compgen ${choices ? `-W ${quoted(choices.join(' '))}` : '-f'} -- "$current"))`)}
  esac
  case "$path" in
${lines(entries, ({ place, words, takesFile }) => {
  const list = quoted(words.map(({ word }) => word).join(' '));
  const files = takesFile ? '; [[ $current == -* ]] || COMPREPLY+=($(compgen -f -- "$current"))' : '';
  return `    ${quoted(place)}) COMPREPLY=($(compgen -W ${list} -- "$current"))${files} ;;`;
})}
  esac
}
complete -o filenames -F _catalogue catalogue
`;
}

function zsh(entries: readonly Entry[]): string {
  return `#compdef catalogue
# catalogue completion for zsh
_catalogue() {
  local route= word at
  local -a found
  for ((at = 2; at < CURRENT; at++)); do
    word=\${words[at]}
    case "$route $word" in
${commandCases(entries, (place) => `      ${place}) route=${place} ;;`)}
    esac
  done
  case "$route \${words[CURRENT - 1]}" in
${valueCases(entries, (choices) => (choices ? `compadd ${choices.map(quoted).join(' ')}` : '_files'))}
  esac
  case "$route" in
${lines(entries, ({ place, words, takesFile }) => {
  const described = words.map(({ word, help }) => quoted(`${word}:${help}`)).join(' ');
  return `    ${quoted(place)}) found=(${described})${takesFile ? '; _files' : ''} ;;`;
})}
  esac
  _describe catalogue found
}
compdef _catalogue catalogue
`;
}

function fish(entries: readonly Entry[]): string {
  return `# catalogue completion for fish
function __catalogue_path
  set -l path ''
  for word in (commandline -opc)[2..-1]
    switch "$path $word"
${commandCases(entries, (place) => `      case ${place}\n        set path ${place}`)}
    end
  end
  echo "$path"
end
complete -c catalogue -f
${lines(entries, ({ place, words, takesFile }) => {
  const here = `complete -c catalogue -n ${quoted(`test "$(__catalogue_path)" = ${quoted(place)}`)}`;
  const completed = words.map(({ word, help, takesValue, choices }) => {
    const name = word.replace(/^--(.*)|^-(.*)|^(.+)/, (_, long, short, plain) =>
      long ? `-l ${long}` : short ? `-s ${short}` : `-a ${quoted(plain)}`,
    );
    const value = choices ? ` -x -a ${quoted(choices.join(' '))}` : ' -rF';
    return `${here} ${name}${takesValue ? value : ''} -d ${quoted(help)}`;
  });
  return [...completed, ...(takesFile ? [`${here} -F`] : [])].join('\n');
})}
`;
}

function lines<Item>(items: readonly Item[], line: (item: Item) => string): string {
  return items.map(line).join('\n');
}

/** A word of all three shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}
