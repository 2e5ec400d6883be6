import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kill, ready } from '../../tests/support/child-programs.js';
import { freePort } from '../../tests/support/free-port.js';
import type { PostgresqlServer } from '../../tests/support/postgresql-server.js';

/** PgBouncer in transaction mode before a server of tests. Any role of the server may log in. */
export class PgBouncer {
  private constructor(
    private readonly child: ChildProcess,
    private readonly port: number,
    private readonly serverPort: number,
  ) {}

  /**
   * Starts it and waits until it listens.
   * @param folder for its files
   * @param settings further ones, such as `ignore_startup_parameters = options`
   * @throws Error that names the package to install if there is no pgbouncer
   */
  static async start(server: PostgresqlServer, folder: string, settings: readonly string[] = []): Promise<PgBouncer> {
    const port = await freePort();
    const files = mkdtempSync(join(folder, 'pgbouncer-'));
    const users = join(files, 'users');
    writeFileSync(users, '"postgres" ""\n');
    const ini = [
      '[databases]',
      `* = host=127.0.0.1 port=${server.port} auth_user=postgres`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${users}`,
      'pool_mode = transaction',
      // Fewer than the clients have, so that they share them.
      'default_pool_size = 4',
      'server_login_retry = 1',
      ...settings,
    ];
    const file = join(files, 'pgbouncer.ini');
    writeFileSync(file, ini.join('\n'));
    // It refuses to run as root.
    const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
    for (const path of [folder, files]) chmodSync(path, 0o755);
    const child = spawn('pgbouncer', [...user, file], { stdio: ['ignore', 'ignore', 'pipe'] });
    await ready(child, /process up/);
    return new PgBouncer(child, port, server.port);
  }

  /** The URL of the server as a client of PgBouncer names it. */
  through(url: string): string {
    return url.replace(`:${this.serverPort}/`, `:${this.port}/`);
  }

  async stop(): Promise<void> {
    await kill(this.child);
  }
}
