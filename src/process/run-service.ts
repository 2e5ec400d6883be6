import cluster from 'node:cluster';
import { loadSettings, passedSocket, type Settings } from '../config/settings.js';
import { exitOnConfigError } from './exit.js';
import { serve } from './serve.js';
import { exitMessage, print, startupBanner } from './startup-banner.js';

/** Runs the service until a signal stops it, in one process or in several, as the setting WORKERS says. */
export async function runService(): Promise<void> {
  // A closed standard output, as after `| head`, does not stop the service.
  process.stdout.on('error', () => {});
  const settings = await exitOnConfigError(async () => loadSettings());
  // Workers accept from the socket of the primary.
  const socket = await exitOnConfigError(async () =>
    passedSocket(cluster.isWorker ? process.ppid : process.pid),
  );
  if (settings.WORKERS === 1) return runStandalone(settings, socket);
  if (cluster.isWorker) return (await import('./cluster/worker.js')).runWorker(settings, socket);
  return (await import('./cluster/primary.js')).runPrimary(settings, socket);
}

/** Runs the whole service in this process. Messages for people go to standard output. */
function runStandalone(settings: Settings, socket: number | undefined): Promise<void> {
  return serve(settings, {
    passedSocket: socket,
    onStarted: (started) => print(startupBanner(settings, started)),
    onFailed: (reason, exit) => {
      print(exitMessage(reason));
      exit();
    },
    onSecondSignal: (exitCode) => process.exit(exitCode),
  });
}
