import { PROCESS_IO } from './adapters/inbound/cli/io.js';
import { run } from './adapters/inbound/cli/main.js';
import { storeAt, storeUrlForms } from './composition/stores/index.js';

/**
 * Runs one command of `catalogue`. Imports only what the command needs.
 * @returns the exit code
 */
export function runCommand(args: readonly string[], io = PROCESS_IO): Promise<number> {
  return run(args, io, {
    serve: async () => (await import('./process/run-service.js')).runService(),
    loadTasks: () => import('./composition/admin-tasks.js'),
    storeUrlForms: storeUrlForms(),
    isStoreUrl: (text) => storeAt(text) !== undefined,
    loadMcp: () => import('#packages/mcp/serve.js'),
    loadRemote: () => import('#packages/remote/remote-catalogue.js'),
  });
}
