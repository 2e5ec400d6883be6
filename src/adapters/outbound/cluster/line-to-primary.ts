import type { RateState } from '../../../application/ports/rate-limiter.js';
import { unavailable } from '../../../domain/errors.js';
import { isRateAnswers, type Line, type RateAnswers, type RateQuestion } from './rate-messages.js';

/** The primary only counts and hands over connections; one that is silent for longer has no processor to run on. */
const ANSWER_WITHIN_MS = 2_000;

interface Asked {
  readonly question: RateQuestion;
  readonly resolve: (state: RateState) => void;
  readonly reject: (error: Error) => void;
}

interface Batch {
  readonly asked: readonly Asked[];
  readonly timeout: NodeJS.Timeout;
}

/** A worker's questions to the primary. Those of one turn of the event loop go together: a message costs more than a count. */
export class LineToPrimary {
  private readonly unanswered = new Map<number, Batch>();
  private gathered: Asked[] = [];
  private lastBatch = 0;

  constructor(
    private readonly line: Line,
    private readonly answerWithinMs = ANSWER_WITHIN_MS,
  ) {
    line.receive((message) => {
      if (isRateAnswers(message)) this.settle(message.batch, message.states);
    });
  }

  /** @throws CatalogueError `unavailable` where no answer comes in time */
  ask(question: RateQuestion): Promise<RateState> {
    return new Promise((resolve, reject) => {
      if (this.gathered.length === 0) setImmediate(() => this.send());
      this.gathered.push({ question, resolve, reject });
    });
  }

  private send(): void {
    const asked = this.gathered;
    const batch = ++this.lastBatch;
    this.gathered = [];
    // A worker that was busy itself has not read yet what came in time: reading goes before giving up.
    const timeout = setTimeout(() => setImmediate(() => this.settle(batch, [])), this.answerWithinMs);
    this.unanswered.set(batch, { asked, timeout });
    this.line.send({ batch, questions: asked.map(({ question }) => question) });
  }

  /** An answer that comes too late finds nobody waiting. */
  private settle(batch: number, states: RateAnswers['states']): void {
    const { asked = [], timeout } = this.unanswered.get(batch) ?? {};
    this.unanswered.delete(batch);
    clearTimeout(timeout);
    for (const [i, { resolve, reject }] of asked.entries()) {
      const state = states[i];
      if (state) resolve(state);
      else reject(unavailable('The process that counts requests does not answer.'));
    }
  }
}
