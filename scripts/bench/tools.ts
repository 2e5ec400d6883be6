import { spawnSync } from 'node:child_process';

const PACKAGES = { taskset: 'util-linux', wrk: 'wrk', h2load: 'nghttp2-client' } as const;

/** @throws Error that names the Debian package of a missing program */
export function requireTools(): void {
  for (const [tool, name] of Object.entries(PACKAGES))
    if (spawnSync(tool, ['--version']).error)
      throw new Error(`${tool} is missing. It is in the Debian package ${name}: apt-get install ${name}`);
}
