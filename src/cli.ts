#!/usr/bin/env node
import { endUnlessLoaded, requireSupportedNode } from './process/supported-node.js';

/** The exit code of a command that never settles: EX_SOFTWARE of sysexits.h. */
const EX_SOFTWARE = 70;

requireSupportedNode();
process.once('beforeExit', () => {
  if (process.exitCode === undefined) process.exitCode = EX_SOFTWARE;
});
import('./command-line.js')
  .then(({ runCommand }) => runCommand(process.argv.slice(2)))
  .then((exitCode) => {
    process.exitCode = exitCode;
  })
  .catch(endUnlessLoaded);
