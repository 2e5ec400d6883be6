import { composePrimary } from '../composition/primary.js';
import { type Settings, toEnvironment } from '../config/settings.js';
import { EX_SOFTWARE, stopOnSignal } from './ending.js';
import { freePort } from './free-port.js';
import { farewell, greeting, say } from './greeting.js';
import { StartFailed, WorkerPool } from './worker-pool.js';

/** Runs workers until a signal ends them: counts what they limit together, and speaks for them to a person. */
export async function runPrimary(settings: Settings): Promise<void> {
  const { journal, limiters } = composePrimary(settings);
  const end = async (reason: string | undefined, code: number): Promise<never> => {
    await journal.flush();
    if (reason !== undefined) say(farewell(reason));
    return process.exit(code);
  };
  // Where no port can be had, a worker finds out as well, and says why.
  const PORT = settings.PORT || (await freePort(settings.HOST).catch(() => 0));
  const pool = new WorkerPool({
    size: settings.WORKERS,
    environment: toEnvironment({ ...settings, PORT }),
    journal,
    welcome: (worker) => limiters.serve(worker),
  });
  const stopped = stopOnSignal(
    async () => {
      await pool.stop();
      journal.info('all workers stopped');
      await journal.flush();
    },
    (exitCode) => {
      pool.kill();
      process.exit(exitCode);
    },
  );
  process.on('uncaughtException', (error) => {
    journal.error('the primary ends, and its workers with it', { error });
    end(error.message, EX_SOFTWARE);
  });
  try {
    say(greeting(settings, await pool.start()));
  } catch (error) {
    if (stopped.requested) return;
    if (!(error instanceof StartFailed)) throw error;
    const { reason, code, signal } = error.end;
    await end(reason ?? (signal ? `its first worker was ended by ${signal}` : undefined), code ?? 1);
  }
}
