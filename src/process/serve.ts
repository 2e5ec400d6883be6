import { loadTracing, type Settings, unknownVariables } from '../config/settings.js';
import { EXIT_CODES } from '../shared/program.js';
import { exitIfExplained, exitOnConfigError, onShutdownSignal } from './exit.js';
import { createService, type Started, StoreTimeout } from './service.js';

/** The differences between a standalone process and a cluster worker. */
export interface ProcessHooks {
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
export async function serve(settings: Settings, hooks: ProcessHooks): Promise<void> {
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
