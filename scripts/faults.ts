/**
 * Runs the campaigns of `tests/faults`, and prints for each promise its figures, its tests and its time, and at the end
 * each failure again. Campaigns that measure times run one after the other; two others run at a time.
 * `npm run test:faults`; `-- --only overload,disk` runs those with one of these words in their name. Linux only; each
 * campaign says what it needs.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { CAMPAIGNS, type Campaign } from '../tests/faults/campaigns.js';
import { chosen, options } from './options.js';
import { print, table } from './statistics.js';

const MOCHA = createRequire(import.meta.url).resolve('mocha/bin/mocha.js');
const LANES = 2;
/** A guard: no test passes or fails by it on a machine that works. */
const TIMEOUT_MS = 600_000;

interface Outcome {
  readonly campaign: Campaign;
  readonly figures: readonly string[];
  readonly passed: number;
  readonly failed: number;
  readonly seconds: number;
  /** The failures that mocha prints, or the end of the output if the run broke off. */
  readonly failures: string;
}

/** So much of the output of a run that broke off is printed again, in lines. */
const LAST_LINES = 20;

const { only } = options({ only: '' });
const campaigns = chosen('only', only, CAMPAIGNS);
const outcomes: Outcome[] = [];
const together = campaigns.filter(({ isTimed }) => !isTimed);
await Promise.all(Array.from({ length: LANES }, () => runEach(together)));
await runEach(campaigns.filter(({ isTimed }) => isTimed));

outcomes.sort((a, b) => campaigns.indexOf(a.campaign) - campaigns.indexOf(b.campaign));
for (const { campaign, figures } of outcomes) print(`\n${campaign.name}: ${figures.join('; ')}`);
print(
  `\n${table(
    ['promise', 'passed', 'failed', 'seconds'],
    outcomes.map(({ campaign: { name }, passed, failed, seconds }) => [
      name,
      `${passed}`,
      `${failed}`,
      seconds.toFixed(0),
    ]),
  )}`,
);
const sum = (of: 'passed' | 'failed') => outcomes.reduce((total, outcome) => total + outcome[of], 0);
print(`\n  ${sum('passed')} passing\n  ${sum('failed')} failing`);
for (const { campaign, failed, failures } of outcomes)
  if (failed > 0) print(`\n== ${campaign.name}\n${failures}`);
process.exitCode = sum('failed') > 0 ? 1 : 0;

/** Takes campaigns from the queue until it is empty. */
async function runEach(queue: Campaign[]): Promise<void> {
  for (let campaign = queue.shift(); campaign; campaign = queue.shift()) outcomes.push(await run(campaign));
}

/** Runs a campaign and prints its output in one piece. A run that crashes, or has no test, counts as a failure. */
async function run(campaign: Campaign): Promise<Outcome> {
  const begin = performance.now();
  const files = campaign.files.map((file) => resolve(`build/tests/${file}.test.js`));
  const child = spawn(process.execPath, [MOCHA, '--timeout', `${TIMEOUT_MS}`, ...files], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  const code = await new Promise<number | null>((done) => child.once('close', done));
  const seconds = (performance.now() - begin) / 1_000;
  print(`\n== ${campaign.name} (${seconds.toFixed(0)} s)\n${output.trimEnd()}`);
  const passed = count(output, 'passing');
  const failed = count(output, 'failing');
  // Mocha only warns of a missing file.
  const isBroken =
    !files.every((file) => existsSync(file)) || passed + failed === 0 || (code !== 0 && failed === 0);
  return {
    campaign,
    figures: figuresIn(output),
    passed,
    failed: failed + Number(isBroken),
    seconds,
    failures: isBroken
      ? output.split('\n').slice(-LAST_LINES).join('\n')
      : output.slice(output.search(/^ +\d+ failing$/m)),
  };
}

function count(output: string, word: string): number {
  return Number(new RegExp(`^ +(\\d+) ${word}`, 'm').exec(output)?.[1] ?? 0);
}

/** Returns the figures in the output of a test run, in the order in which they were printed. */
function figuresIn(output: string): string[] {
  return [...output.matchAll(/^ *figure: (.*)$/gm)].map(([, text = '']) => text);
}
