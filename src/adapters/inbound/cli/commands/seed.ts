import { type Command, InvalidArgumentError } from 'commander';
import { readInteger } from '../../../../shared/json.js';
import type { CliContext } from '../context.js';
import { type Io, writeJson } from '../io.js';
import { withProgress } from '../progress.js';
import { SAMPLE_PRODUCTS, SAMPLE_SEED, type Seeding, type SeedingProgress } from '../samples.js';

interface SeedOptions {
  readonly products: number;
  readonly seed: number;
  readonly json?: boolean;
}

export function addSeed(program: Command, { io, loadSettings, loadTasks }: CliContext): void {
  program
    .command('seed')
    .summary('create sample products')
    .description(
      'Creates the sample products 1 to N of a seed, except those that exist. A running service may use the store ' +
        'meanwhile. If the command is interrupted, run it again: it creates the rest.',
    )
    .requiredOption('--products <n>', 'how many products', parseInteger(SAMPLE_PRODUCTS))
    .option('--seed <s>', 'names another set of products', parseInteger(SAMPLE_SEED), SAMPLE_SEED.default)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nexample: catalogue seed --products 10000')
    .action(async (options: SeedOptions) => {
      const settings = loadSettings();
      const { seedStore } = await loadTasks();
      await seedStore(settings, (seeding) => fill(seeding, options, io));
    });
}

async function fill(seeding: Seeding, { seed, products: count, json }: SeedOptions, io: Io): Promise<void> {
  await withProgress(io, async (terminal, signals) => {
    signals.listen();
    let progress: SeedingProgress = { made: 0, existing: 0 };
    for await (progress of seeding(seed, count)) {
      terminal.show('creating products', progress.made + progress.existing, count);
      if (signals.exitCode !== undefined) break;
    }
    terminal.clear();
    const { made: created, existing } = progress;
    if (json) writeJson(io, { seed, created, existing });
    else io.stdout.write(`${created} products of seed ${seed} created, ${existing} existed already\n`);
    if (created + existing < count)
      signals.throwIfInterrupted('Interrupted. Run the same command again: it creates the rest.');
  });
}

function parseInteger({ min, max }: { readonly min: number; readonly max: number }) {
  return (text: string): number => {
    const value = readInteger(text);
    if (value !== undefined && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}
