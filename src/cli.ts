#!/usr/bin/env node
import { requireSupportedNode } from './process/supported-node.js';

requireSupportedNode();
// EX_SOFTWARE of sysexits.h: the exit code of a command that never settles.
process.exitCode = 70;
import('./command-line.js')
  .then(({ runCommand }) => runCommand(process.argv.slice(2)))
  .then((exitCode) => {
    process.exitCode = exitCode;
  });
