import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

const PACKAGES = { taskset: 'util-linux', wrk: 'wrk', h2load: 'nghttp2-client' } as const;

/** Says what this machine lacks: a program, with its Debian package, or a second core. */
export function missing(): string[] {
  const tools = Object.entries(PACKAGES).filter(([tool]) => spawnSync(tool, ['--version']).error);
  return [
    ...tools.map(
      ([tool, name]) => `${tool} is missing. It is in the Debian package ${name}: apt-get install ${name}`,
    ),
    ...(availableParallelism() < 2 ? ['Two cores are needed: one for the servers, one for the load.'] : []),
  ];
}
