import cluster from 'node:cluster';
import { loadSettings, loadTracing, passedSocket, type Settings, unknownVariables } from '../config/settings.js';
import { EXIT_CODES } from '../shared/program.js';
import type { WorkerReport } from './cluster/worker-pool.js';
import { exitIfExplained, exitOnConfigError, onShutdownSignal } from './exit.js';
import { createService, type Started, StoreTimeout } from './service.js';
import { exitMessage, print, startupBanner } from './startup-banner.js';

/** Runs the service until a signal stops it, in one process or in several, as the setting WORKERS says. */
export async function runService(): Promise<void> {
  // A closed standard output, as after `| head`, does not stop the service.
  process.stdout.on('error', () => {});
  const [settings, socket] = await exitOnConfigError(() => [
    loadSettings(),
    // Workers accept from the socket of the primary.
    passedSocket(cluster.isWorker ? process.ppid : process.pid),
  ]);
  if (settings.WORKERS === 1) return runStandalone(settings, socket);
  if (cluster.isWorker) return runWorker(settings, socket);
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

/**
 * Serves as one of several processes and prints nothing. It ends immediately if the primary dies, because Node ends a
 * cluster worker whose channel closes.
 */
function runWorker(settings: Settings, socket: number | undefined): Promise<void> {
  return serve(settings, {
    passedSocket: socket,
    primary: { send, receive: (listener) => process.on('message', listener) },
    onStarted: (started) => send({ started } satisfies WorkerReport),
    onFailed: (failure, exit) => send({ failure } satisfies WorkerReport, exit),
    // A signal to the whole process group arrives twice, once from the primary. The primary ends all workers.
    onSecondSignal: () => {},
  });
}

/** Ignores a closed channel: the process ends anyway. */
function send(message: object, onSent: () => void = () => {}): void {
  process.send?.(message, undefined, undefined, onSent);
}

/** The differences between a standalone process and a cluster worker. */
interface ProcessHooks {
  /** In a cluster worker: its channel to the primary. */
  readonly primary?: Parameters<typeof createService>[1];
  /** A listening socket that a supervisor passed, instead of HOST and PORT. */
  readonly passedSocket: number | undefined;
  onStarted(started: Started): void;
  /** @param exit to be called after the reason is reported */
  onFailed(reason: string, exit: () => void): void;
  /** See {@link onShutdownSignal}. */
  onSecondSignal(exitCode: number): void;
}

/** Serves in this process until a signal stops it. The log goes to standard error. */
async function serve(settings: Settings, hooks: ProcessHooks): Promise<void> {
  const service = await exitOnConfigError(() => createService(settings, hooks.primary, loadTracing()));
  const shutdown = onShutdownSignal(() => service.stop(), hooks.onSecondSignal);
  const fail = async (error: unknown, exitCode: number) => {
    service.logger.error('service stopped after error', { error });
    await service.logger.flush();
    hooks.onFailed(error instanceof Error ? error.message : String(error), () => process.exit(exitCode));
  };
  process.on('uncaughtException', (error) => fail(error, EXIT_CODES.software));
  for (const warning of unknownVariables()) service.logger.warn(warning);
  try {
    const started = await service.start(hooks.passedSocket);
    // On a terminal, no line of the log stands in the middle of the banner.
    await service.logger.flush();
    hooks.onStarted(started);
  } catch (error) {
    if (shutdown.requested) return;
    exitIfExplained(error);
    await fail(error, error instanceof StoreTimeout ? EXIT_CODES.unavailable : EXIT_CODES.problem);
  }
}
