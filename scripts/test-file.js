// Runs test files by the names of their sources: npm run test:file -- tests/http/users.test.ts --grep email
import { spawnSync } from 'node:child_process';

const files = process.argv.slice(2).map((text) => text.replace(/^(?:\.\/)?(.+\.test)\.tsx?$/, 'build/$1.js'));
const { status } = spawnSync(process.execPath, ['node_modules/mocha/bin/mocha.js', ...files], {
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
