import { SettingsError } from '../config/settings.js';
import { EXIT_CODES } from '../shared/program.js';
import { AddressInUse } from './listen.js';

/** Under npm, one Ctrl-C reaches the process twice within this time: directly, and through npm. */
const SAME_SIGNAL_MS = 250;

/** If the settings are wrong, prints one line per issue and ends the process. */
export async function exitOnConfigError<Result>(run: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    exitIfExplained(error);
    throw error;
  }
}

/** Ends a process that could not start for a reason that its operator has to remove. Does nothing for other errors. */
export function exitIfExplained(error: unknown): void {
  if (error instanceof SettingsError) exitWith(error.issues, EXIT_CODES.configuration);
  if (error instanceof AddressInUse) exitWith([error.message], EXIT_CODES.inUse);
}

function exitWith(lines: readonly string[], code: number): never {
  for (const line of lines) process.stderr.write(`${line}\n`);
  return process.exit(code);
}

/**
 * Stops at the first SIGTERM or SIGINT, and ends the process with exit code 0 afterwards.
 * @param onSecondSignal receives the exit code of a process that the signal ends
 * @param elapsed milliseconds since some moment; never goes back
 */
export function onShutdownSignal(
  stop: () => Promise<void>,
  onSecondSignal: (exitCode: number) => void,
  elapsed = () => performance.now(),
): { readonly requested: boolean } {
  const state = { requested: false };
  let firstAt = 0;
  for (const [signal, number] of [
    ['SIGTERM', 15],
    ['SIGINT', 2],
  ] as const) {
    process.on(signal, async () => {
      if (state.requested) {
        if (signal === 'SIGTERM' || elapsed() - firstAt > SAME_SIGNAL_MS) onSecondSignal(128 + number);
        return;
      }
      firstAt = elapsed();
      state.requested = true;
      await stop();
      process.exit(0);
    });
  }
  return state;
}
