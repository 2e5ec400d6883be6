import type { Settings } from '../../config/settings.js';
import { serve } from '../serve.js';
import type { Started } from '../service.js';

/** A worker's report to the primary, which prints it: that it serves, or why it stopped. */
export interface WorkerReport {
  readonly started?: Started;
  readonly failure?: string;
}

/**
 * Serves as one of several processes and prints nothing. It ends immediately if the primary dies, because Node ends a
 * cluster worker whose channel closes.
 */
export function runWorker(settings: Settings, socket: number | undefined): Promise<void> {
  return serve(settings, {
    passedSocket: socket,
    primary: { send, receive: (listener) => process.on('message', listener) },
    onStarted: (started) => report({ started }),
    onFailed: (failure, exit) => report({ failure }, exit),
    // A signal to the whole process group arrives twice, once from the primary. The primary ends all workers.
    onSecondSignal: () => {},
  });
}

function report(what: WorkerReport, onSent?: () => void): void {
  send(what, onSent);
}

/** Ignores a closed channel: the process ends anyway. */
function send(message: object, onSent: () => void = () => {}): void {
  process.send?.(message, undefined, undefined, onSent);
}
