import { execFileSync, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** The servers run on one core, and everything that sends requests on another one. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

/**
 * Binds this process, and so the load generators that it starts, to the core of the load.
 * @returns a function that undoes it
 * @throws Error if there is one core only, or no `taskset` (util-linux)
 */
export function bindToLoadCore(): () => void {
  const bind = (cores: string) => execFileSync('taskset', ['-a', '-c', '-p', cores, `${process.pid}`]);
  const shown = execFileSync('taskset', ['-c', '-p', `${process.pid}`], { encoding: 'utf8' });
  bind(`${LOAD_CORE}`);
  return () => bind(shown.replace(/.*: /, '').trim());
}

const PACKAGES = { taskset: 'util-linux', wrk: 'wrk', h2load: 'nghttp2-client' } as const;

/** Says what this machine lacks: a program, with its Debian package, or a second core. */
export function missing(): string[] {
  const tools = Object.entries(PACKAGES).filter(([tool]) => spawnSync(tool, ['--version']).error);
  return [
    ...tools.map(([tool, name]) => `${tool} is missing. It is in the Debian package ${name}: apt-get install ${name}`),
    ...(availableParallelism() < 2 ? ['Two cores are needed: one for the servers, one for the load.'] : []),
  ];
}
