import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Runs the garbage collector, in this thread. Objects of native code are finalized a turn of the event loop later. */
export const collectGarbage: () => void = runInNewContext('gc');
