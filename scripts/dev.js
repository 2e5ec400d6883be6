// Compiles what changes and starts the service again: npm run dev. Both programs end with this one. A change of a page
// appears after npm run build and a reload.
import { spawn } from 'node:child_process';

const programs = [
  ['node_modules/typescript/bin/tsc', '--build', '--watch', '--preserveWatchOutput'],
  ['--watch', '--watch-preserve-output', 'dist/main.js', ...process.argv.slice(2)],
].map((argv) => spawn(process.execPath, argv, { stdio: ['ignore', 'inherit', 'inherit'] }));

for (const program of programs) {
  program.on('exit', () => {
    for (const other of programs) other.kill();
  });
}
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    for (const program of programs) program.kill(signal);
  });
}
