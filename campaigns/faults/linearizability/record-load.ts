import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpClient } from '../../../tests/support/http-client.js';
import { TEST_SEED } from '../../../tests/support/run-settings.js';
import { SeededRandom } from '../../../tests/support/seeded-random.js';
import { type Asked, ask, bodyOf, codeOfBroken, gotIn, now, type Operation, type Value } from './record-history.js';

/** The records that the clients of a group share at a time. */
const SHARED = 3;
/** A record with so many operations is deleted. */
const MAX_OPERATIONS = 150;
/** Each operation of unknown outcome doubles the work of the checker. */
const MAX_UNKNOWN = 5;
/** While a replica restarts, each attempt to connect costs as much as a request. */
const REFUSED_PAUSE_MS = 50;

/** A record with its history, as far as the clients know it. */
interface Subject {
  readonly id: number;
  operations: number;
  unknown: number;
  isGone: boolean;
  version: number;
  value: Value;
}

/** Clients that read, replace, patch and delete the same few records through any replica, and note what they see. */
export class RecordLoad {
  readonly history: Operation[] = [];
  private made = 0;
  private readonly random = new SeededRandom(TEST_SEED);

  /**
   * @param clientOf returns the client of a replica
   * @param replicas their number
   */
  constructor(
    private readonly clientOf: (replica: number) => HttpClient,
    private readonly replicas: number,
  ) {}

  /** The number of operations with a known outcome. */
  get known(): number {
    return this.history.length - this.unknown;
  }

  unknown = 0;
  private isStopped = false;

  /** Ends `run` early. */
  stop(): void {
    this.isStopped = true;
  }

  /**
   * Runs groups of clients until `count` operations have a known outcome.
   * @param clients the clients of each group, which share records
   */
  async run(count: number, groups: number, clients = 8): Promise<void> {
    const ran = Array.from({ length: groups }, async (_, group) => {
      const subjects: Subject[] = [];
      for (let i = 0; i < SHARED; i++) subjects.push(await this.create(group * clients));
      const each = Array.from({ length: clients }, (_, at) => this.act(group * clients + at, subjects, count));
      await Promise.all(each);
    });
    await Promise.all(ran);
  }

  private async act(client: number, subjects: Subject[], count: number): Promise<void> {
    while (this.known < count && !this.isStopped) {
      const at = this.random.below(subjects.length);
      const subject = subjects[at];
      if (!subject) throw new Error('There are no records.');
      const isOld = subject.isGone || subject.unknown >= MAX_UNKNOWN;
      // The other clients go on with the old record until they choose again.
      if (isOld && this.random.chance(0.3)) subjects[at] = await this.create(client);
      else await this.operate(client, subject);
    }
  }

  private async operate(client: number, subject: Subject): Promise<void> {
    const isRead = this.random.chance(0.5);
    const asked: Asked = isRead ? { kind: 'read' } : this.write(subject);
    const read = isRead ? readOf(subject, this.random) : {};
    const replica = this.random.below(this.replicas);
    const call = now();
    const { status, version, result } = await ask(this.clientOf(replica), subject.id, asked, read);
    if (status === -1) return sleep(REFUSED_PAUSE_MS);
    const end = now();
    subject.operations++;
    const line = { record: subject.id, client, call, ...asked, status };
    if (status === 0) {
      subject.unknown++;
      this.unknown++;
      this.history.push(line);
      return;
    }
    this.history.push({ ...line, return: end, ...(version && { version }), ...(result && { result }) });
    if (status === 404 || status === 204) subject.isGone = true;
    if (version) subject.version = version;
    if (result) subject.value = result;
  }

  private write(subject: Subject): Asked {
    const ifMatch = this.random.chance(0.5) ? { ifMatch: subject.version } : {};
    const [name, description, a, b] = this.fresh();
    if (subject.operations > MAX_OPERATIONS && this.random.chance(0.2)) return { kind: 'delete', ...ifMatch };
    const dice = this.random.fraction();
    if (dice < 0.35) return { kind: 'put', value: [name, description, a, b], ...ifMatch };
    const changes: (string | null)[] = [null, null, null, null];
    // The last change has no effect if nobody else was faster.
    if (dice < 0.5) changes[0] = name;
    else if (dice < 0.65) changes[1] = this.random.chance(0.3) ? '' : description;
    else if (dice < 0.8) changes[2] = a;
    else if (dice < 0.95) changes[3] = this.random.chance(0.3) ? '' : b;
    else changes[0] = subject.value[0];
    return { kind: 'patch', changes, ...(this.random.chance(0.2) && ifMatch) };
  }

  /** A record whose creation has no response is none of the history: nobody knows its id. */
  private async create(client: number): Promise<Subject> {
    for (;;) {
      if (this.isStopped) throw new Error('The load was stopped.');
      const value = this.fresh();
      const call = now();
      try {
        const response = await this.clientOf(client % this.replicas).post('/products', bodyOf(value));
        const got = gotIn(response, false);
        if (got.status === 201) {
          const { id } = response.json;
          const line = { record: id, client, call, kind: 'create' as const, value };
          this.history.push({ ...line, ...got, return: now() });
          return { id, operations: 1, unknown: 0, isGone: false, version: 1, value };
        }
        if (got.status !== 0) throw new Error(`a creation got ${response.status}: ${response.text}`);
      } catch (error) {
        codeOfBroken(error);
      }
      await sleep(5);
    }
  }

  private fresh(): Value {
    this.made++;
    return [`n${this.made}`, `d${this.made}`, `a${this.made}`, `b${this.made}`];
  }
}

function readOf({ version }: Subject, random: SeededRandom): { list?: boolean; ifNoneMatch?: number } {
  const dice = random.fraction();
  if (dice < 0.2) return { list: true };
  return dice < 0.4 ? { ifNoneMatch: version } : {};
}
