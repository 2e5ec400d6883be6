import { describeService } from '../composition/admin-tasks.js';
import { loadSettings } from '../config/settings.js';
import { exitOnConfigError } from '../process/exit.js';
import { parse, say } from './arguments.js';

/** Prints the description of the interface; no service has to run. */
export async function runOpenApi(args: string[]): Promise<void> {
  parse(args, []);
  say(`${JSON.stringify(describeService(await exitOnConfigError(() => loadSettings())), undefined, 2)}\n`);
}
