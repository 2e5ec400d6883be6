import { Argument, type Command } from 'commander';
import { COMPLETIONS, type Shell } from '../completion.js';
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
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(COMPLETIONS)))
    .addHelpText('after', INSTALL)
    .action((shell: Shell) => {
      io.stdout.write(COMPLETIONS[shell](program));
    });
}
