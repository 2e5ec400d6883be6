import type { Timer } from '../../../application/ports/timer.js';

/** It keeps no process alive. */
export class SystemTimer implements Timer {
  after(ms: number, call: () => void): () => void {
    const timer = setTimeout(call, ms).unref();
    return () => clearTimeout(timer);
  }
}
