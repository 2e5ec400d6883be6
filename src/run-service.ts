import cluster from 'node:cluster';
import { loadSettings } from './config/settings.js';
import { runAlone } from './processes/alone.js';
import { orExit } from './processes/ending.js';
import { runPrimary } from './processes/primary.js';
import { runWorker } from './processes/worker.js';

/** Runs the service until a signal ends it: in this process, or in as many as the settings say. */
export function runService(): Promise<void> {
  // That nobody listens to what is said to a person, as after `| head`, is no reason to stop serving.
  process.stdout.on('error', () => {});
  const settings = orExit(loadSettings);
  if (settings.WORKERS === 1) return runAlone(settings);
  return cluster.isWorker ? runWorker(settings) : runPrimary(settings);
}
