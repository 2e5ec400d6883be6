import type { MetricFigures, MetricsMerger } from '../../../application/ports/metrics.js';
import { unavailable } from '../../../domain/errors.js';
import { withTimeout } from '../../../shared/promises.js';
import type { Channel } from './rate-limits.js';

/** How long the primary waits for the figures of its workers. A worker that is busy for longer reports its last ones. */
const COLLECT_MS = 1_000;
/** How long a worker waits for the report of all. */
const REPORT_MS = 3_000;

/** From a worker: it wants the report, or sends its figures. */
interface FromWorker {
  readonly wantsReport?: number;
  readonly figures?: { readonly round: number; readonly metrics: readonly MetricFigures[] };
}

/** From the primary: a worker shall send its figures, or gets the report that it wanted; null if there is none. */
interface FromPrimary {
  readonly collect?: number;
  readonly report?: { readonly id: number; readonly text: string | null };
}

interface Member {
  /** The last figures that it sent. */
  metrics: readonly MetricFigures[] | undefined;
  /** The round of those. */
  round: number;
  /** Called when it has sent figures, or ended. */
  reported: () => void;
}

/** The figures of processes: those of this one, and the merger of all. */
export interface PrimaryMetrics {
  readonly own: { figures(): Promise<readonly MetricFigures[]> };
  readonly merger: MetricsMerger;
  readonly onError: (error: unknown) => void;
}

/**
 * Reports the metrics of all workers in the primary. The counts of a worker that ended stay in the report, so a counter
 * of the group never falls; what such a worker counted after its last report is lost.
 */
export class MetricsServer {
  private readonly members = new Map<Channel, Member>();
  /** The counters of the workers that have ended. */
  private ended: (readonly MetricFigures[])[] = [];
  private round = 0;
  /** The report that is being made. Concurrent scrapes share it. */
  private running: Promise<string> | undefined;

  constructor(
    private readonly parts: PrimaryMetrics,
    private readonly collectMs = COLLECT_MS,
  ) {}

  /** Responds to a worker until its channel closes. */
  serve(worker: Channel, closed: Promise<unknown>): void {
    const member: Member = { metrics: undefined, round: 0, reported: () => {} };
    this.members.set(worker, member);
    worker.receive((message) => {
      const { wantsReport, figures } = (message ?? {}) as FromWorker;
      if (wantsReport !== undefined) void this.respond(worker, wantsReport);
      if (figures === undefined) return;
      member.metrics = figures.metrics;
      member.round = figures.round;
      member.reported();
    });
    closed.then(() => {
      this.members.delete(worker);
      if (member.metrics) this.ended.push(member.metrics.filter(isCumulative));
      member.reported();
    });
  }

  private async respond(worker: Channel, id: number): Promise<void> {
    this.running ??= this.report().finally(() => {
      this.running = undefined;
    });
    const text = await this.running.catch((error: unknown) => {
      this.parts.onError(error);
      return null;
    });
    worker.send({ report: { id, text } } satisfies FromPrimary);
  }

  private async report(): Promise<string> {
    const { own, merger } = this.parts;
    const round = ++this.round;
    const reports = [...this.members].map(
      ([worker, member]) =>
        new Promise<void>((resolve) => {
          member.reported = resolve;
          worker.send({ collect: round } satisfies FromPrimary);
        }),
    );
    // After the time is over, the report has what is there.
    await withTimeout(Promise.all(reports), this.collectMs).catch(() => {});
    const primary = (await own.figures()).filter(({ name }) => name.startsWith('process_'));
    await this.mergeEnded();
    // From here on at once: a worker that ends now counts once, as a member or as ended.
    const members = [...this.members.values()];
    return merger.report([...members.flatMap(({ metrics }) => (metrics ? [metrics] : [])), primary, ...this.ended], {
      serving: members.length,
      reporting: members.filter((member) => member.round === round).length,
    });
  }

  private async mergeEnded(): Promise<void> {
    const before = [...this.ended];
    if (before.length < 2) return;
    const merged = await this.parts.merger.merge(before);
    // Other workers may have ended during the merge.
    this.ended = [merged, ...this.ended.slice(before.length)];
  }
}

/** Only what counts up survives its process. */
function isCumulative({ type }: MetricFigures): boolean {
  return type === 'counter' || type === 'histogram';
}

/** A worker's part: it sends its figures to the primary, and gets the report of all workers. */
export class GroupMetrics {
  private readonly waiting = new Map<number, (text: string | null) => void>();
  private lastId = 0;

  constructor(
    private readonly own: { readonly contentType: string; figures(): Promise<readonly MetricFigures[]> },
    private readonly primary: Channel,
    onError: (error: unknown) => void,
    private readonly reportMs = REPORT_MS,
  ) {
    primary.receive((message) => {
      const { collect, report } = (message ?? {}) as FromPrimary;
      if (collect !== undefined)
        own.figures().then((metrics) => {
          primary.send({ figures: { round: collect, metrics } } satisfies FromWorker);
        }, onError);
      if (report) this.waiting.get(report.id)?.(report.text);
    });
  }

  get contentType(): string {
    return this.own.contentType;
  }

  /**
   * The report of all workers.
   * @throws AppError `unavailable` if the primary makes none in time: the figures of this worker alone would look as if
   *   the others had lost theirs
   */
  async text(): Promise<string> {
    const id = ++this.lastId;
    const report = new Promise<string | null>((resolve) => this.waiting.set(id, resolve));
    this.primary.send({ wantsReport: id } satisfies FromWorker);
    try {
      const text = await withTimeout(report, this.reportMs).catch(() => null);
      if (text === null) throw unavailable('The metrics of all workers could not be collected.');
      return text;
    } finally {
      this.waiting.delete(id);
    }
  }
}
