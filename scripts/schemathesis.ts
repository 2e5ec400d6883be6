import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const HOOKS = resolve('tests/conformance');
const ALL_PHASES = 'examples,coverage,fuzzing,stateful';
const MORE_ROUNDS = 2;

/** How long it goes on: so many seconds, or so many examples for each operation. */
export type Pace = { readonly seconds: number } | { readonly examples: number };

export interface Trial {
  readonly name: string;
  readonly url: string;
  /** Empty: no credential is sent. */
  readonly key: string;
  readonly seed: number;
  readonly pace: Pace;
  readonly environment: Readonly<Record<string, string>>;
}

export interface Outcome {
  readonly name: string;
  readonly cases: number;
  readonly operations: number;
  /** Operations of which no failure is known. */
  readonly faultless: number;
  /** What was not as it should be, the run itself included. */
  readonly failures: number;
  readonly seconds: number;
  /** For a person. */
  readonly output: string;
}

/** What of its report is read here. */
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

/** The schemathesis of tests/conformance/requirements.txt, in a Python environment of its own. */
export class Schemathesis {
  private constructor(private readonly program: string) {}

  static async install(folder: string): Promise<Schemathesis> {
    await finished('python3', ['-m', 'venv', folder]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--require-hashes'];
    await finished(join(folder, 'bin/python'), [...pip, '-r', join(HOOKS, 'requirements.txt')]);
    return new Schemathesis(join(folder, 'bin/schemathesis'));
  }

  /**
   * Of its state machine Hypothesis repeats what it had, finds another state, and ends that phase early, as a success. By
   * time schemathesis begins it anew by itself; by number it is begun anew here, with other seeds.
   * @param folder for what it writes
   */
  async run(folder: string, trial: Trial): Promise<Outcome> {
    const whole = await this.runOnce(folder, trial, ALL_PHASES);
    const outcomes = [whole];
    if ('examples' in trial.pace)
      for (let round = 1; round <= MORE_ROUNDS; round++)
        outcomes.push(await this.runOnce(folder, { ...trial, seed: trial.seed + round }, 'stateful'));
    return outcomes.reduce(together);
  }

  private async runOnce(folder: string, trial: Trial, phases: string): Promise<Outcome> {
    const report = join(folder, 'report.json');
    const { PATH = '' } = process.env;
    const { code, output } = await ended(this.program, [...parameters(trial, report), '--phases', phases], {
      cwd: folder,
      env: {
        PATH,
        HOME: folder,
        PYTHONPATH: HOOKS,
        PYTHONDONTWRITEBYTECODE: '1',
        SCHEMATHESIS_HOOKS: 'hooks',
        ...trial.environment,
      },
    });
    if (!existsSync(report)) throw new Error(`schemathesis ended with ${code}:\n${output}`);
    const reported: Report = JSON.parse(readFileSync(report, 'utf8'));
    const isMissing = phases === ALL_PHASES && reported.operations.tested !== reported.operations.selected;
    return outcome(trial.name, isMissing ? null : code, output, reported);
  }
}

function parameters({ url, key, seed, pace, environment }: Trial, report: string): string[] {
  return [
    ...['--config-file', join(HOOKS, 'schemathesis.toml'), 'run', `${url}/openapi.json`, '--no-color'],
    ...['--checks', 'all', '--seed', String(seed), '--tls-verify', environment['CONFORMANCE_CA_FILE'] ?? ''],
    ...['--report', 'json', '--report-json-path', report],
    ...('seconds' in pace ? ['--max-time', String(pace.seconds)] : ['--max-examples', String(pace.examples)]),
    ...(key === '' ? [] : ['--header', `Authorization: Bearer ${key}`]),
  ];
}

/** @param code null where the run was not whole */
function outcome(name: string, code: number | null, output: string, report: Report): Outcome {
  const { generated, unique_failures, errored } = report.test_cases;
  const { tested } = report.operations;
  const faulty = new Set(report.failures.flatMap(({ operations }) => operations));
  const isWhole = code === 0 && errored === 0 && generated > 0;
  return {
    name,
    cases: generated,
    operations: tested,
    faultless: Math.max(0, tested - faulty.size),
    failures: isWhole ? unique_failures : Math.max(1, unique_failures),
    seconds: report.running_time,
    output,
  };
}

function together(whole: Outcome, more: Outcome): Outcome {
  return {
    ...whole,
    cases: whole.cases + more.cases,
    faultless: Math.max(0, whole.faultless - more.failures),
    failures: whole.failures + more.failures,
    seconds: whole.seconds + more.seconds,
    output: more.failures > 0 ? `${whole.output}${more.output}` : whole.output,
  };
}

/** @throws where it fails */
async function finished(program: string, args: readonly string[]): Promise<void> {
  const { code, output } = await ended(program, args, {});
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${output}`);
}

async function ended(
  program: string,
  args: readonly string[],
  how: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv },
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(program, args, { ...how, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  const [code] = await once(child, 'close');
  return { code, output };
}
