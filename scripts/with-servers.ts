/**
 * Starts a Redis and the stand-in for MongoDB, runs a command with `REDIS_URL` and `MONGODB_URL`, stops both, and ends
 * with the command's exit code: `node build/scripts/with-servers.js npm run test:integration`.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoProcess } from '../tests/support/mongo-process.js';
import { RedisServer } from '../tests/support/redis-server.js';

const [program = '', ...args] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'servers-'));
const redis = await RedisServer.onFreePort();
const mongo = await MongoProcess.onFreePort(folder);
try {
  await Promise.all([redis.run(), mongo.run()]);
  const servers = { REDIS_URL: redis.url, MONGODB_URL: mongo.url('') };
  const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...servers } });
  process.exitCode = await new Promise<number>((done, reject) =>
    child.once('error', reject).once('close', (code) => done(code ?? 1)),
  );
} finally {
  await Promise.all([redis.kill(), mongo.kill()]);
  rmSync(folder, { recursive: true, force: true });
}
