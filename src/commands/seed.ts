import { SAMPLE_PRODUCTS, SAMPLE_SEED } from '../application/sample-product.js';
import type { Seeding, SeedingProgress } from '../application/seeding.js';
import { seedStore } from '../composition/admin-tasks.js';
import { loadSettings } from '../config/settings.js';
import { exitOnConfigError } from '../process/exit.js';
import { parse, say, UsageError } from './arguments.js';
import { Interrupted, Interruption } from './interruption.js';
import { TerminalProgress } from './terminal-progress.js';

export async function runSeed(args: string[]): Promise<void> {
  const { values } = parse(args, ['products', 'seed']);
  const count = integer('products', values['products'], SAMPLE_PRODUCTS);
  const seed = integer('seed', values['seed'] ?? `${SAMPLE_SEED.default}`, SAMPLE_SEED);
  await seedStore(await exitOnConfigError(() => loadSettings()), (seeding) => fill(seeding, seed, count));
}

async function fill(seeding: Seeding, seed: number, count: number): Promise<void> {
  const interruption = new Interruption();
  const terminal = new TerminalProgress();
  let progress: SeedingProgress = { made: 0, existing: 0 };
  try {
    for await (progress of seeding.fill(seed, count)) {
      terminal.show(`products: ${progress.made + progress.existing} of ${count}`);
      if (interruption.exitCode !== undefined) break;
    }
  } finally {
    interruption.end();
    terminal.clear();
  }
  const { made, existing } = progress;
  say(`${made} products of seed ${seed} made, ${existing} were there already\n`);
  if (interruption.exitCode !== undefined && made + existing < count) {
    throw new Interrupted('Interrupted. Run it again to make the rest.', interruption.exitCode);
  }
}

function integer(
  name: string,
  text: string | undefined,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const value = /^(0|[1-9]\d*)$/.test(text ?? '') ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`seed needs --${name}, a whole number from ${min} to ${max}`);
}
