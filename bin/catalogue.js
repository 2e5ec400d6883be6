#!/usr/bin/env node
// The command `catalogue` of package.json. npx links it once, so it must exist and be executable before the first build.
import { existsSync } from 'node:fs';

const program = new URL('../dist/bundle/cli.js', import.meta.url);
if (existsSync(program)) import(program.href);
else {
  process.stderr.write('The command is not built yet. Run this first: npm run build\n');
  process.exitCode = 78;
}
