import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { conformanceResources } from './conformance-resources.js';

const HOOKS = resolve('campaigns/conformance');
/** `coverage` sends every boundary value of every parameter, which takes most of the time. */
const PHASES = ['examples', 'coverage', 'fuzzing', 'stateful'];
const SHORT_PHASES = ['examples', 'fuzzing', 'stateful'];

/** The length of a run: a time, or a number of examples for each operation. */
export type Extent = { readonly seconds: number } | { readonly examples: number };

/** The parameters of a run. */
export interface RunOptions {
  readonly name: string;
  readonly url: string;
  /** If it is empty, no credential is sent. */
  readonly key: string;
  readonly seed: number;
  readonly extent: Extent;
  readonly environment: Readonly<Record<string, string>>;
}

export interface Outcome {
  readonly name: string;
  readonly cases: number;
  readonly operations: number;
  /** Operations without a known failure. */
  readonly passing: number;
  /** Includes a failure of the run itself. */
  readonly failures: number;
  readonly seconds: number;
  /** The output of schemathesis, for a person. */
  readonly output: string;
}

/** The members of schemathesis's report that this script reads. */
interface Report {
  readonly running_time: number;
  readonly operations: { readonly selected: number; readonly tested: number };
  readonly test_cases: {
    readonly generated: number;
    readonly unique_failures: number;
    readonly errored: number;
  };
  readonly failures: readonly { readonly operations: readonly string[] }[];
}

/** The schemathesis of campaigns/conformance/requirements.txt, in its own Python environment. */
export class Schemathesis {
  private constructor(
    private readonly program: string,
    /** Keeps what Python compiles, of the packages that a run uses. */
    private readonly compiled: string,
  ) {}

  /** @param folder keeps the environment for later runs */
  static async install(folder: string): Promise<Schemathesis> {
    const python = resolve(folder, 'python');
    const requirements = readFileSync(join(HOOKS, 'requirements.txt'), 'utf8');
    const installed = join(python, 'installed.txt');
    if (!existsSync(installed) || readFileSync(installed, 'utf8') !== requirements) {
      rmSync(python, { recursive: true, force: true });
      await mustSucceed('python3', ['-m', 'venv', python]);
      const pip = [
        ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-compile'],
        '--require-hashes',
      ];
      await mustSucceed(join(python, 'bin/python'), [...pip, '-r', join(HOOKS, 'requirements.txt')]);
      writeFileSync(installed, requirements);
    }
    return new Schemathesis(join(python, 'bin/schemathesis'), join(python, 'compiled'));
  }

  /**
   * Runs the phases. Hypothesis may end the stateful phase early, as a success: it replays earlier steps, and stops if
   * they lead to another state. Within a time limit schemathesis restarts the phase itself; for a number of examples
   * this method starts it that many times, with other seeds.
   * @param folder for files that schemathesis writes
   */
  async run(folder: string, options: RunOptions): Promise<Outcome> {
    const { extent, seed } = options;
    const phases = 'examples' in extent ? SHORT_PHASES : PHASES;
    const outcomes = [await this.runOnce(folder, options, phases.join())];
    if ('examples' in extent)
      for (let round = 1; round < extent.examples; round++)
        outcomes.push(await this.runOnce(folder, { ...options, seed: seed + round }, 'stateful'));
    return outcomes.reduce(combined);
  }

  private async runOnce(folder: string, options: RunOptions, phases: string): Promise<Outcome> {
    const reportFile = join(folder, 'report.json');
    const { PATH = '' } = process.env;
    const { code, output } = await runProgram(this.program, [...parameters(options, reportFile), '--phases', phases], {
      cwd: folder,
      env: {
        PATH,
        HOME: folder,
        PYTHONPATH: HOOKS,
        PYTHONPYCACHEPREFIX: this.compiled,
        SCHEMATHESIS_HOOKS: 'hooks',
        CONFORMANCE_SEED: String(options.seed),
        CONFORMANCE_RESOURCES: JSON.stringify(conformanceResources()),
        ...options.environment,
      },
    });
    if (!existsSync(reportFile)) throw new Error(`schemathesis ended with ${code}:\n${output}`);
    const report: Report = JSON.parse(readFileSync(reportFile, 'utf8'));
    const { selected, tested } = report.operations;
    // The phase `stateful` alone need not reach every operation.
    const isIncomplete = phases !== 'stateful' && tested !== selected;
    return outcome(options.name, isIncomplete ? null : code, output, report);
  }
}

function parameters({ url, key, seed, extent, environment }: RunOptions, reportFile: string): string[] {
  return [
    ...['--config-file', join(HOOKS, 'schemathesis.toml'), 'run', `${url}/openapi.json`, '--no-color'],
    ...['--checks', 'all', '--seed', String(seed), '--tls-verify', environment['CONFORMANCE_CA_FILE'] ?? ''],
    ...['--report', 'json', '--report-json-path', reportFile],
    ...('seconds' in extent ? ['--max-time', String(extent.seconds)] : ['--max-examples', String(extent.examples)]),
    ...(key === '' ? [] : ['--header', `Authorization: Bearer ${key}`]),
  ];
}

/** @param code the exit code; null if the run was incomplete */
function outcome(name: string, code: number | null, output: string, report: Report): Outcome {
  const { generated, unique_failures, errored } = report.test_cases;
  const { tested } = report.operations;
  const failing = new Set(report.failures.flatMap(({ operations }) => operations));
  const isComplete = code === 0 && errored === 0 && generated > 0;
  return {
    name,
    cases: generated,
    operations: tested,
    passing: Math.max(0, tested - failing.size),
    failures: isComplete ? unique_failures : Math.max(1, unique_failures),
    seconds: report.running_time,
    output,
  };
}

function combined(first: Outcome, second: Outcome): Outcome {
  return {
    ...first,
    cases: first.cases + second.cases,
    passing: Math.max(0, first.passing - second.failures),
    failures: first.failures + second.failures,
    seconds: first.seconds + second.seconds,
    output: second.failures > 0 ? `${first.output}${second.output}` : first.output,
  };
}

/** @throws Error if the program fails */
async function mustSucceed(program: string, args: readonly string[]): Promise<void> {
  const { code, output } = await runProgram(program, args, {});
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${output}`);
}

async function runProgram(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv },
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  const [code] = await once(child, 'close');
  return { code, output };
}
