import { SettingsError } from '../config/settings.js';

/** sysexits.h */
export const EX_SOFTWARE = 70;
export const EX_TEMPFAIL = 75;
const EX_CONFIG = 78;

/** Under npm, one Ctrl-C reaches the process twice within this time: directly, and through npm. */
const SAME_SIGNAL_MS = 250;

/** If the settings are wrong, prints one line per issue and ends the process. */
export async function exitOnConfigError<Result>(run: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return exitMisconfigured(error);
  }
}

export function exitMisconfigured({ issues }: SettingsError): never {
  for (const issue of issues) process.stderr.write(`${issue}\n`);
  return process.exit(EX_CONFIG);
}

/**
 * Stops at the first SIGTERM or SIGINT, and ends the process with exit code 0 afterwards.
 * @param onSecondSignal receives the exit code of a process that the signal ends
 */
export function onShutdownSignal(
  stop: () => Promise<void>,
  onSecondSignal: (exitCode: number) => void,
): { readonly requested: boolean } {
  const state = { requested: false };
  let firstAt = 0;
  for (const [signal, number] of [
    ['SIGTERM', 15],
    ['SIGINT', 2],
  ] as const) {
    process.on(signal, async () => {
      if (state.requested) {
        if (signal === 'SIGTERM' || performance.now() - firstAt > SAME_SIGNAL_MS)
          onSecondSignal(128 + number);
        return;
      }
      firstAt = performance.now();
      state.requested = true;
      await stop();
      process.exit(0);
    });
  }
  return state;
}
