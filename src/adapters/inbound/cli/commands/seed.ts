import { type Command, InvalidArgumentError } from 'commander';
import type { CliContext } from '../context.js';
import type { Io } from '../io.js';
import { TerminalProgress } from '../progress.js';
import { SAMPLE_PRODUCTS, SAMPLE_SEED } from '../seed/sample-product.js';
import type { Seeding, SeedingProgress } from '../seed/seeding.js';
import { Interrupted, SignalListener } from '../signals.js';

interface SeedOptions {
  readonly products: number;
  readonly seed: number;
}

export function addSeed(program: Command, { io, loadSettings, loadTasks }: CliContext): void {
  program
    .command('seed')
    .description('create the sample products 1 to N of a seed, except those that exist')
    .requiredOption('--products <n>', 'how many products', parseInteger(SAMPLE_PRODUCTS))
    .option('--seed <s>', 'names another set of products', parseInteger(SAMPLE_SEED), SAMPLE_SEED.default)
    .action(async ({ products, seed }: SeedOptions) => {
      const settings = loadSettings();
      const { seedStore } = await loadTasks();
      await seedStore(settings, (seeding) => fill(seeding, seed, products, io));
    });
}

async function fill(seeding: Seeding, seed: number, count: number, io: Io): Promise<void> {
  const signals = new SignalListener();
  const terminal = new TerminalProgress(io.stderr);
  let progress: SeedingProgress = { made: 0, existing: 0 };
  try {
    for await (progress of seeding.fill(seed, count)) {
      terminal.show(`products: ${progress.made + progress.existing} of ${count}`);
      if (signals.exitCode !== undefined) break;
    }
  } finally {
    signals.close();
    terminal.clear();
  }
  const { made, existing } = progress;
  io.stdout.write(`${made} products of seed ${seed} made, ${existing} were there already\n`);
  if (signals.exitCode !== undefined && made + existing < count)
    throw new Interrupted('Interrupted. Run it again to make the rest.', signals.exitCode);
}

function parseInteger({ min, max }: { readonly min: number; readonly max: number }) {
  return (text: string): number => {
    const value = /^(0|[1-9]\d*)$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}
