import type { Io } from './io.js';
import { Progress } from './progress.js';
import { SignalListener } from './signals.js';

/** Runs work that takes long: it shows its progress, and a signal stops it between two steps. */
export async function withProgress<Result>(
  io: Io,
  work: (progress: Progress, signals: SignalListener) => Promise<Result>,
): Promise<Result> {
  const signals = new SignalListener(io.stderr);
  const progress = new Progress(io.stderr);
  try {
    return await work(progress, signals);
  } finally {
    signals.close();
    progress.clear();
  }
}
