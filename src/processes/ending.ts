import { StoreTimeout } from '../composition/service.js';
import { SettingsError } from '../config/settings.js';

/** sysexits.h */
export const EX_SOFTWARE = 70;
const EX_TEMPFAIL = 75;
const EX_CONFIG = 78;

/** A terminal's Ctrl-C reaches the process twice under npm: once itself, once passed on. */
const SAME_SIGNAL_MS = 250;

/** Ends the process with one line a fault where the settings are wrong. */
export function orExit<Result>(configured: () => Result): Result {
  try {
    return configured();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return exitMisconfigured(error);
  }
}

export function exitMisconfigured({ issues }: SettingsError): never {
  for (const issue of issues) process.stderr.write(`${issue}\n`);
  return process.exit(EX_CONFIG);
}

/** The exit code of a service that could not start. */
export function exitCodeOf(error: unknown): number {
  return error instanceof StoreTimeout ? EX_TEMPFAIL : 1;
}

/**
 * Stops at the first SIGTERM or SIGINT, and then ends the process well.
 * @param again what the second one does; it is given the exit code of a process that the signal ends
 */
export function stopOnSignal(
  stop: () => Promise<void>,
  again: (exitCode: number) => void,
): { readonly requested: boolean } {
  const state = { requested: false };
  let first = 0;
  for (const [signal, number] of [
    ['SIGTERM', 15],
    ['SIGINT', 2],
  ] as const) {
    process.on(signal, async () => {
      if (state.requested) {
        if (signal === 'SIGTERM' || performance.now() - first > SAME_SIGNAL_MS) again(128 + number);
        return;
      }
      first = performance.now();
      state.requested = true;
      await stop();
      process.exit(0);
    });
  }
  return state;
}
