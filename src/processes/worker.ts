import type { Started } from '../composition/service.js';
import type { Settings } from '../config/settings.js';
import { serve } from './serving.js';

/** What a worker tells the primary, which tells the person: that it serves, or why it ends. */
export interface WorkerReport {
  readonly started?: Started;
  readonly ends?: string;
}

/**
 * One of several processes that serve. It says nothing on standard output. When the primary is gone it ends at once:
 * Node sees to that in every cluster worker whose line breaks.
 */
export function runWorker(settings: Settings): Promise<void> {
  return serve(settings, {
    primary: { send: tell, receive: (listener) => process.on('message', listener) },
    started: (started) => report({ started }),
    ends: (ends, exit) => report({ ends }, exit),
    // A signal to the whole group arrives twice, once from the primary; it is the primary that ends all at once.
    signalledAgain: () => {},
  });
}

function report(what: WorkerReport, told?: () => void): void {
  tell(what, told);
}

/** A line that broke is no fault of this message: the process ends by it anyway. */
function tell(message: object, told: () => void = () => {}): void {
  process.send?.(message, undefined, undefined, told);
}
