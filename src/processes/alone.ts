import type { Settings } from '../config/settings.js';
import { farewell, greeting, say } from './greeting.js';
import { serve } from './serving.js';

/** The whole service in this process. Speaks to a person on standard output. */
export function runAlone(settings: Settings): Promise<void> {
  return serve(settings, {
    started: (what) => say(greeting(settings, what)),
    ends: (reason, exit) => {
      say(farewell(reason));
      exit();
    },
    signalledAgain: (exitCode) => process.exit(exitCode),
  });
}
