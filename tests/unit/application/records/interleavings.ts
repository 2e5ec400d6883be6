import { setImmediate as turn } from 'node:timers/promises';

/** So many orders are tried by chance where there are too many to try all. */
type Pick = (options: number) => number;

/** The order in which the steps of actors that run side by side happen, one at a time. */
export class Schedule {
  /** Which of the waiting steps came next, and out of how many. */
  readonly choices: { readonly chosen: number; readonly of: number }[] = [];
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly pick: Pick) {}

  /** Waits until it is this step's turn. */
  step(): Promise<void> {
    return new Promise((go) => this.waiting.push(go));
  }

  /** The same port, of which each call is a step. */
  stepwise<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const method = Reflect.get(target, name, target);
        if (typeof method !== 'function') return method;
        return async (...args: unknown[]) => {
          await this.step();
          return method.apply(target, args);
        };
      },
    });
  }

  /** Lets the actors take their steps until they are done. */
  async run<Outcome>(actors: readonly Promise<Outcome>[]): Promise<Outcome[]> {
    const ended = Promise.all(actors);
    ended.catch(() => {});
    for (await turn(); this.waiting.length > 0; await turn()) {
      const of = this.waiting.length;
      const chosen = this.pick(of);
      this.choices.push({ chosen, of });
      this.waiting.splice(chosen, 1)[0]?.();
    }
    return ended;
  }
}

/**
 * Plays a scene once for every order in which its steps can happen. The scene has to be alike each time.
 * @returns how many orders there are
 */
export async function everyOrder(scene: (schedule: Schedule) => Promise<void>): Promise<number> {
  let next: number[] | undefined = [];
  let orders = 0;
  for (; next; orders++) {
    const path: number[] = next;
    let at = 0;
    const schedule: Schedule = new Schedule(() => path[at++] ?? 0);
    await reporting(path, scene(schedule));
    next = following(schedule);
  }
  return orders;
}

/** Plays a scene in so many orders, each drawn from its number, so that one that fails can be played again. */
export async function someOrders(count: number, scene: (schedule: Schedule) => Promise<void>): Promise<void> {
  for (let number = 1; number <= count; number++) {
    let state = number;
    const pick = (options: number) => {
      // Numerical Recipes' generator; its high bits are the good ones.
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * options);
    };
    await reporting([number], scene(new Schedule(pick)));
  }
}

/** The path to the next order: another way at the last place where there is one. */
function following({ choices }: Schedule): number[] | undefined {
  const last = choices.findLastIndex(({ chosen, of }) => chosen + 1 < of);
  if (last < 0) return undefined;
  const path = choices.slice(0, last + 1).map(({ chosen }) => chosen);
  return path.with(last, (path[last] ?? 0) + 1);
}

async function reporting(path: readonly number[], scene: Promise<void>): Promise<void> {
  try {
    await scene;
  } catch (error) {
    if (error instanceof Error) error.message += ` (in the order ${path.join('.')})`;
    throw error;
  }
}
