import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChildProcessService, CLI } from '../../support/child-process-service.js';
import { API_KEY } from '../../support/programs.js';
import type { SeededRandom } from '../../support/seeded-random.js';
import { until } from '../../support/until.js';
import type { Ledger } from './ledger.js';

const SEEDED_AT_ONCE = 20;

interface End {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the command line beside the services. */
export class Operator {
  /** How often each command ran as expected, by name. */
  readonly runs = new Map<string, number>();
  private copies = 0;

  /** @param url of the store, as `catalogue copy` takes it */
  constructor(
    private readonly folder: string,
    private readonly settings: Record<string, string>,
    private readonly url: string,
    private readonly ledger: Ledger,
    private readonly random: SeededRandom,
    private readonly next: () => number,
  ) {}

  /** Runs one command beside the services. Now and then the command is killed. */
  async any(): Promise<void> {
    const commands = ['seed', 'killedSeed', 'createKey', 'revokeKey', 'check'] as const;
    const ofSqlite = ['backup', 'killedBackup', 'copyOpenStore'] as const;
    const isSqlite = this.url.startsWith('sqlite:');
    await this[this.random.oneOf(isSqlite ? [...commands, ...ofSqlite] : commands)]();
  }

  /** Creates sample products. A store that is down for a moment does not fail it: it is run again. */
  async seed(): Promise<void> {
    this.ledger.seeded += SEEDED_AT_ONCE;
    await this.finishSeed();
  }

  /** Completes the sample products of interrupted commands. */
  async finishSeed(): Promise<void> {
    const { seeded } = this.ledger;
    if (seeded > 0) await this.succeed('seed', '--products', `${seeded}`);
  }

  /** Copies the whole store, which no service may have open, to a new one. @returns the file of the copy */
  async copy(): Promise<string> {
    const file = join(this.folder, `copy-${this.copies++}.sqlite`);
    await this.succeed('copy', '--from', this.url, '--to', `sqlite:${file}`);
    return file;
  }

  async check(): Promise<void> {
    const { code, out } = await this.run('check').end;
    // While a process or the store is restarted, `check` reports that.
    if (code !== 0 && code !== 1) this.ledger.seen.others.push(`catalogue check: ${code} ${out}`);
    this.count('check');
  }

  private async killedSeed(): Promise<void> {
    this.ledger.seeded += SEEDED_AT_ONCE;
    await this.kill('seed', '--products', `${this.ledger.seeded}`);
  }

  private async backup(): Promise<void> {
    await this.succeed('backup', this.newFile());
  }

  private async killedBackup(): Promise<void> {
    await this.kill('backup', this.newFile());
  }

  private async copyOpenStore(): Promise<void> {
    const { code, err } = await this.run('copy', '--from', this.url, '--to', `sqlite:${this.newFile()}`).end;
    // If no process has the store open just then, the copy succeeds, or notices that one has written meanwhile.
    const isExpected = code === 69 || code === 0 || (code === 65 && /source changed? meanwhile/.test(err));
    if (!isExpected) this.ledger.seen.others.push(`copy of an open store: ${code} ${err}`);
    this.count('refused copy');
  }

  private async createKey(): Promise<void> {
    const { ledger } = this;
    const name = `key ${this.next()}`;
    const { code, out } = await this.run('keys', 'create', '--name', name, '--scopes', 'products:read').end;
    if (code !== 0) return;
    const secret = API_KEY.exec(out)?.[0] ?? '';
    const id = Number(/^Key (\d+) /.exec(out)?.[1]);
    ledger.keys.set(name, { id, secret, isRevocationSent: false, isRevoked: false });
    ledger.acknowledged++;
    this.count('keys create');
  }

  private async revokeKey(): Promise<void> {
    const key = [...this.ledger.keys.values()].find(({ id, isRevocationSent }) => id && !isRevocationSent);
    if (!key) return;
    key.isRevocationSent = true;
    const { code } = await this.run('keys', 'revoke', `${key.id}`).end;
    if (code !== 0) return;
    key.isRevoked = true;
    this.ledger.acknowledged++;
    this.count('keys revoke');
  }

  private newFile(): string {
    return join(mkdtempSync(join(this.folder, 'backup-')), 'b.sqlite');
  }

  /** Runs a command that may be repeated until it succeeds: the store may be down at the moment. */
  private async succeed(...args: string[]): Promise<void> {
    let last: End | undefined;
    await until(`catalogue ${args.join(' ')} finds the store`, async () => {
      last = await this.run(...args).end;
      return last.code !== 75;
    });
    if (last?.code !== 0) throw new Error(`catalogue ${args.join(' ')}: ${last?.code} ${last?.err}`);
    this.count(args[0] ?? '');
  }

  private async kill(...args: string[]): Promise<void> {
    const { child, end } = this.run(...args);
    await Promise.race([end, sleep(this.random.below(900))]);
    child.kill('SIGKILL');
    await end;
    this.count(`killed ${args[0]}`);
  }

  private run(...args: string[]): { child: ChildProcessService; end: Promise<End> } {
    const child = new ChildProcessService(this.folder, this.settings, [CLI, ...args]);
    return { child, end: child.exit.then(({ code }) => ({ code, out: child.out, err: child.log })) };
  }

  private count(name: string): void {
    this.runs.set(name, (this.runs.get(name) ?? 0) + 1);
  }
}
