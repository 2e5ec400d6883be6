import { Service, type Started } from '../composition/service.js';
import { type Settings, SettingsError } from '../config/settings.js';
import { EX_SOFTWARE, exitCodeOf, exitMisconfigured, orExit, stopOnSignal } from './ending.js';

/** What differs between a process that serves alone and one of several. */
export interface Surroundings {
  /** The line to the primary, where there is one. */
  readonly primary?: ConstructorParameters<typeof Service>[1];
  started(what: Started): void;
  /** @param exit to be called when the reason has been told */
  ends(reason: string, exit: () => void): void;
  /** What a second signal does; see {@link stopOnSignal}. */
  signalledAgain(exitCode: number): void;
}

/** Serves in this process until a signal ends it. The log goes to standard error. */
export async function serve(settings: Settings, surroundings: Surroundings): Promise<void> {
  const service = orExit(() => new Service(settings, surroundings.primary));
  const stopped = stopOnSignal(() => service.stop(), surroundings.signalledAgain);
  const fail = async (error: unknown, code: number) => {
    service.journal.error('the service ends', { error });
    await service.journal.flush();
    surroundings.ends(error instanceof Error ? error.message : String(error), () => process.exit(code));
  };
  process.on('uncaughtException', (error) => fail(error, EX_SOFTWARE));
  try {
    surroundings.started(await service.start());
  } catch (error) {
    if (stopped.requested) return;
    if (error instanceof SettingsError) exitMisconfigured(error);
    await fail(error, exitCodeOf(error));
  }
}
