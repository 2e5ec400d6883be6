import { describeService } from '../composition/administration.js';
import { loadSettings } from '../config/settings.js';
import { orExit } from '../processes/ending.js';
import { parse, say } from './arguments.js';

/** Prints the description of the interface; no service has to run. */
export function runOpenApi(args: string[]): void {
  parse(args, []);
  say(`${JSON.stringify(describeService(orExit(loadSettings)), undefined, 2)}\n`);
}
