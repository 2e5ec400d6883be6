import { setImmediate as turn } from 'node:timers/promises';

/** Chooses the next step. @param options the number of waiting steps @returns an index below `options` */
type PickStep = (options: number) => number;

/** Decides the order of the steps of concurrent actors. One step runs at a time. */
export class Schedule {
  /** The chosen step, and the number of waiting steps, of each choice so far. */
  readonly choices: { readonly chosen: number; readonly of: number }[] = [];
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly pick: PickStep) {}

  /** Waits until it is this step's turn. */
  step(): Promise<void> {
    return new Promise((go) => this.waiting.push(go));
  }

  /** Returns the port, with each call as a step. */
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

  /** Runs the steps until all actors are done. @returns their outcomes */
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
 * Plays a scene once for each possible order of its steps. The scene must be the same each time.
 * @returns the number of orders
 */
export async function everyOrder(scene: (schedule: Schedule) => Promise<void>): Promise<number> {
  let next: number[] | undefined = [];
  let orders = 0;
  for (; next; orders++) {
    const path: number[] = next;
    let index = 0;
    const schedule: Schedule = new Schedule(() => path[index++] ?? 0);
    await withOrderInMessage(path, scene(schedule));
    next = nextPath(schedule);
  }
  return orders;
}

/** Plays a scene in `count` random orders. The seed is the number of the order, so a failure can be reproduced. */
export async function someOrders(count: number, scene: (schedule: Schedule) => Promise<void>): Promise<void> {
  for (let number = 1; number <= count; number++) {
    let state = number;
    const pick = (options: number) => {
      // The linear congruential generator of Numerical Recipes; only its high bits are random enough.
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * options);
    };
    await withOrderInMessage([number], scene(new Schedule(pick)));
  }
}

/** Returns the path to the next order: the next option at the last choice that has one. */
function nextPath({ choices }: Schedule): number[] | undefined {
  const last = choices.findLastIndex(({ chosen, of }) => chosen + 1 < of);
  if (last < 0) return undefined;
  const path = choices.slice(0, last + 1).map(({ chosen }) => chosen);
  return path.with(last, (path[last] ?? 0) + 1);
}

async function withOrderInMessage(path: readonly number[], scene: Promise<void>): Promise<void> {
  try {
    await scene;
  } catch (error) {
    if (error instanceof Error) error.message += ` (in order ${path.join('.')})`;
    throw error;
  }
}
