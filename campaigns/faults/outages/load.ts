import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Latencies } from '../../../scripts/statistics.js';
import type { Unit } from '../../../tests/support/figure.js';
import type { HttpClient, HttpResponse } from '../../../tests/support/http-client.js';
import { ResidentMemory } from '../../bench/resident-memory.js';

export const CLIENTS = 30;
export const PAUSE_MS = 50;

/** By then the outage is known. */
const KNOWN_AFTER_MS = 2_000;
const FAST_MS = 50;
/** What was measured of an outage. */
export type Figures = readonly (readonly [name: string, value: number, unit: Unit])[];

interface TimedResponse {
  readonly begin: number;
  readonly end: number;
  readonly response: HttpResponse;
}

/** Clients that read and write until they are stopped, and probes. */
export class Load {
  /** The names of all creations, and of the acknowledged ones. */
  readonly names: string[] = [];
  readonly acknowledged: string[] = [];
  private readonly answers: TimedResponse[] = [];
  private readonly readiness: TimedResponse[] = [];
  private readonly liveness: TimedResponse[] = [];
  private readonly loops: Promise<void>[];
  private memory: ResidentMemory;
  private mostBefore = Number.NaN;
  private mostDuring = Number.NaN;
  private begunAt = Number.NaN;
  private duringEnd = Number.NaN;
  private endedAt = Number.NaN;
  private isOver = false;

  constructor(
    private readonly client: HttpClient,
    private readonly pid: number,
  ) {
    const probe = (name: string, into: TimedResponse[]) =>
      this.repeat(() => this.ask(into, () => client.get(`/health/${name}`, { token: null })));
    this.memory = new ResidentMemory(pid);
    this.loops = [
      ...Array.from({ length: CLIENTS }, () => this.use()),
      probe('ready', this.readiness),
      probe('live', this.liveness),
    ];
  }

  /** @param lastReplyMs the time until the last reply arrives, from which on the figures count */
  outageBegins(lastReplyMs = 0): void {
    this.mostBefore = this.memory.read().max;
    this.memory = new ResidentMemory(this.pid);
    this.begunAt = performance.now() + lastReplyMs;
  }

  /** The end of the outage begins: from now on, requests may succeed. */
  outageEnds(): void {
    this.duringEnd = performance.now();
    this.mostDuring = this.memory.read().max;
  }

  storeIsBack(): void {
    this.endedAt = performance.now();
  }

  /** The number of requests that got 503. */
  get refused(): number {
    return this.answers.filter(({ response }) => response.status === 503).length;
  }

  /** Whether a request and a probe were sent during the outage, and refused. */
  isRefused(): boolean {
    return [this.answers, this.readiness].every((answers) =>
      answers.some(({ begin, response }) => response.status === 503 && begin >= this.begunAt),
    );
  }

  /** Whether a request and a probe were sent after the return of the store, and succeeded. */
  isServedAgain(): boolean {
    return [this.answers, this.readiness].every((answers) =>
      answers.some(({ begin, response }) => response.status < 300 && begin >= this.endedAt),
    );
  }

  /** May be called again. */
  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.loops);
  }

  /** Every response is a success or a proper 503, and the process stays alive. */
  expectNoFailure(): void {
    expect(new Set(this.liveness.map(({ response }) => response.status))).to.deep.equal(new Set([200]));
    for (const { response } of [...this.answers, ...this.readiness]) {
      expect(response.status, response.text).to.be.oneOf([200, 201, 503]);
      if (response.status !== 503) continue;
      expect(response.json.code).to.equal('unavailable');
      expect(Number(response.headers['retry-after'])).to.be.within(1, 60);
      expect(response.text).to.not.match(/mongo|postgres|topology|127\.0\.0\.1|socket/i);
    }
  }

  figures(): Figures {
    const { begunAt, duringEnd, endedAt } = this;
    const refused = this.answers.filter(({ response }) => response.status === 503);
    const early = refused.filter(({ begin }) => begin < begunAt + KNOWN_AFTER_MS);
    const slow = early.filter((answer) => tookMs(answer) > FAST_MS);
    const later = new Latencies();
    for (const answer of refused)
      if (answer.begin >= begunAt + KNOWN_AFTER_MS && answer.begin < duringEnd) later.add(tookMs(answer));
    const ok = (answers: readonly TimedResponse[]) =>
      answers.filter(({ begin, response }) => response.status < 300 && begin >= duringEnd).map(({ end }) => end);
    const unready = this.readiness.filter(({ response }) => response.status === 503).map(({ end }) => end);
    return [
      ['first 503', Math.max(0, Math.min(...refused.map(({ end }) => end)) - begunAt), 'ms'],
      ['last slow 503', Math.max(0, ...slow.map(({ end }) => end - begunAt)), 'ms'],
      ['later 503 (p99)', later.quantile(0.99), 'ms'],
      ['not ready', Math.max(0, Math.min(...unready) - begunAt), 'ms'],
      ['first 2xx after its return', Math.max(0, Math.min(...ok(this.answers)) - endedAt), 'ms'],
      ['ready again', Math.max(0, Math.min(...ok(this.readiness)) - endedAt), 'ms'],
      ['more memory', this.mostDuring - this.mostBefore, 'MiB'],
    ];
  }

  private async use(): Promise<void> {
    let name = this.newName();
    let turn = 0;
    await this.repeat(async () => {
      switch (turn++ % 3) {
        case 0:
          await this.ask(this.answers, () => this.client.get('/products/1'));
          break;
        case 1:
          await this.ask(this.answers, () => this.client.get('/products?limit=5'));
          break;
        default: {
          const headers = { 'Idempotency-Key': name };
          const status = await this.ask(this.answers, () => this.client.post('/products', { name }, { headers }));
          if (status !== 201) return;
          this.acknowledged.push(name);
          name = this.newName();
        }
      }
    });
  }

  private newName(): string {
    const name = randomUUID();
    this.names.push(name);
    return name;
  }

  private async ask(into: TimedResponse[], send: () => Promise<HttpResponse>): Promise<number> {
    const begin = performance.now();
    const response = await send();
    into.push({ begin, end: performance.now(), response });
    return response.status;
  }

  private async repeat(step: () => Promise<unknown>): Promise<void> {
    while (!this.isOver) {
      await step();
      await sleep(PAUSE_MS);
    }
  }
}

function tookMs({ begin, end }: TimedResponse): number {
  return end - begin;
}
