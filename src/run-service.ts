import { Service, StoreTimeout } from './composition/service.js';
import { loadSettings, SettingsError } from './config/settings.js';
import { greeting } from './greeting.js';

/** sysexits.h */
const EX_SOFTWARE = 70;
const EX_TEMPFAIL = 75;
const EX_CONFIG = 78;

/** A terminal's Ctrl-C reaches the process twice under npm: once itself, once passed on. */
const SAME_SIGNAL_MS = 250;

/** Runs the service until a signal ends it. Speaks to a person on standard output; the log goes to standard error. */
export async function runService(): Promise<void> {
  const settings = orExit(loadSettings);
  const service = orExit(() => new Service(settings));
  const stopped = stopOnSignal(service);
  process.on('uncaughtException', (error) => fail(service, error, EX_SOFTWARE));
  try {
    say(greeting(settings, await service.start()));
  } catch (error) {
    if (stopped.requested) return;
    if (error instanceof SettingsError) exitMisconfigured(error);
    await fail(service, error, error instanceof StoreTimeout ? EX_TEMPFAIL : 1);
  }
}

/** Ends the process with one line a fault where the settings are wrong. */
export function orExit<Result>(configured: () => Result): Result {
  try {
    return configured();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return exitMisconfigured(error);
  }
}

function exitMisconfigured({ faults }: SettingsError): never {
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  return process.exit(EX_CONFIG);
}

function stopOnSignal(service: Service): { readonly requested: boolean } {
  const state = { requested: false };
  let first = 0;
  for (const [signal, number] of [
    ['SIGTERM', 15],
    ['SIGINT', 2],
  ] as const) {
    process.on(signal, async () => {
      if (state.requested) {
        if (signal === 'SIGTERM' || performance.now() - first > SAME_SIGNAL_MS) process.exit(128 + number);
        return;
      }
      first = performance.now();
      state.requested = true;
      await service.stop();
      process.exit(0);
    });
  }
  return state;
}

async function fail(service: Service, error: unknown, code: number): Promise<never> {
  service.journal.error('the service ends', { error });
  await service.journal.flush();
  say([`The service ends: ${error instanceof Error ? error.message : String(error)}`]);
  return process.exit(code);
}

function say(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}
