import type { RateLimiter, RateState } from '../../../application/ports/rate-limiter.js';
import { isRateQuestions, type Line, type RateQuestion } from './rate-messages.js';

/** The primary's side: one count for all workers. It outlives each of them. */
export class SharedRateLimiters {
  private readonly byName: ReadonlyMap<string, RateLimiter>;

  /** @param limiters the counting ones, told apart by their policies' names */
  constructor(limiters: readonly RateLimiter[]) {
    this.byName = new Map(limiters.map((limiter) => [limiter.policy.name, limiter]));
  }

  /** Answers what comes on this line, for as long as it lasts. */
  serve(line: Line): void {
    line.receive(async (message) => {
      if (!isRateQuestions(message)) return;
      const states = await Promise.all(message.questions.map((question) => this.answer(question)));
      line.send({ batch: message.batch, states });
    });
  }

  /** @returns undefined where nothing is counted by this policy */
  private async answer([policy, verb, caller]: RateQuestion): Promise<RateState | undefined> {
    return this.byName.get(policy)?.[verb](caller);
  }
}
