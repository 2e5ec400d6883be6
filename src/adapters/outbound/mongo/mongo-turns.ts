import { unavailable } from '../../../domain/errors.js';

/** Lets so many run at a time, and the others wait in line. */
export class Turns {
  private readonly line: (() => void)[] = [];

  constructor(
    private free: number,
    private readonly waitMs: number,
  ) {}

  /** @throws CatalogueError `unavailable` where its turn does not come in time */
  async take(): Promise<void> {
    if (this.free > 0) {
      this.free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.line.splice(this.line.indexOf(enter), 1);
        reject(unavailable('Too many queries run that no index serves. Try again later.'));
      }, this.waitMs);
      const enter = () => {
        clearTimeout(timer);
        resolve();
      };
      this.line.push(enter);
    });
  }

  /** Hands the turn to whoever waits longest. */
  give(): void {
    const next = this.line.shift();
    if (next) next();
    else this.free++;
  }
}
