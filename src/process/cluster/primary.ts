import cluster from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { composePrimary } from '../../composition/application.js';
import { type Settings, toEnvironment, unknownVariables } from '../../config/settings.js';
import { EXIT_CODES } from '../../shared/program.js';
import { onShutdownSignal } from '../exit.js';
import { exitMessage, print, startupBanner } from '../startup-banner.js';
import { StartupError, WorkerPool } from './worker-pool.js';

/** Runs workers until a signal stops them. The primary counts their rate limits and prints for them. */
export async function runPrimary(settings: Settings, socket: number | undefined): Promise<void> {
  const { logger, rateLimits, metrics } = composePrimary(settings);
  // The workers find every name of a setting in their environment, so they warn of nothing.
  for (const warning of unknownVariables()) logger.warn(warning);
  const exit = async (reason: string | undefined, code: number): Promise<never> => {
    await logger.flush();
    if (reason !== undefined) print(exitMessage(reason));
    return process.exit(code);
  };
  // Workers accept by themselves: connections that the primary has accepted would be lost if it stops.
  if (socket !== undefined) cluster.schedulingPolicy = cluster.SCHED_NONE;
  // If no port is free, a worker finds out as well and reports why.
  const PORT = settings.PORT || (await freePort(settings.HOST).catch(() => 0));
  const pool = new WorkerPool({
    size: settings.WORKERS,
    environment: toEnvironment({ ...settings, PORT }),
    logger,
    onFork: (worker) => {
      rateLimits.serve(worker, worker.ended);
      metrics.serve(worker, worker.ended);
    },
    // Node closes the passed socket with its last user, and no later worker could listen. The supervisor still has it.
    ...(socket !== undefined && {
      onNoneServes: () => {
        pool.kill();
        return exit('all workers ended at the same time', 1);
      },
    }),
  });
  const shutdown = onShutdownSignal(
    async () => {
      const deadline = performance.now() + settings.SHUTDOWN_GRACE_SECONDS * 1_000;
      await pool.stop();
      logger.info('all workers stopped');
      await logger.flush(deadline - performance.now());
    },
    (exitCode) => {
      pool.kill();
      process.exit(exitCode);
    },
  );
  process.on('uncaughtException', (error) => {
    logger.error('primary stopped after error, and its workers with it', { error });
    exit(error.message, EXIT_CODES.software);
  });
  try {
    print(startupBanner(settings, await pool.start()));
  } catch (error) {
    if (shutdown.requested) return;
    if (!(error instanceof StartupError)) throw error;
    const { reason, code, signal } = error.end;
    await exit(reason ?? (signal ? `its first worker was ended by ${signal}` : undefined), code ?? EXIT_CODES.problem);
  }
}

/**
 * Returns a port that is free now. Workers listen on it by number, because a port that PORT=0 found is lost when all of
 * them have died.
 */
export async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
