import { expect } from 'chai';
import { yieldToEventLoop } from '#src/shared/promises.js';
import { BACKGROUND, Slices, Task } from '#src/shared/task-scheduler.js';

describe('Task', () => {
  it('resumes one task in each turn of the event loop, first come, first served', async () => {
    const seen: string[] = [];
    const tasks = ['a', 'b', 'c'].map(async (name) => {
      for (let piece = 1; piece <= 2; piece++) {
        await BACKGROUND.yield();
        seen.push(`${name}${piece}`);
      }
    });
    const others = (async () => {
      for (let task = 1; task <= 6; task++) {
        await yieldToEventLoop();
        seen.push('-');
      }
    })();
    await Promise.all([...tasks, others]);
    const pieces = seen.filter((entry) => entry !== '-');
    expect(pieces).to.deep.equal(['a1', 'b1', 'c1', 'a2', 'b2', 'c2']);
    expect(seen.join('')).to.not.match(/\d[a-z]/);
  });

  it('rotates between clients, even if one client has more tasks', async () => {
    const seen: string[] = [];
    const work = async (client: string, name: string) => {
      const task = new Task(client);
      for (let piece = 1; piece <= 2; piece++) {
        await task.yield();
        seen.push(`${name}${piece}`);
      }
    };
    await Promise.all([work('a', 'a'), work('a', 'b'), work('a', 'c'), work('d', 'd')]);
    expect(seen).to.deep.equal(['a1', 'd1', 'b1', 'd2', 'c1', 'a2', 'b2', 'c2']);
  });

  it('yields again after the queue was empty', async () => {
    await BACKGROUND.yield();
    await yieldToEventLoop();
    await BACKGROUND.yield();
  });
});

describe('Slices', () => {
  /** @returns for each item whether it begins a piece */
  const cut = async (sizes: readonly number[]) => {
    const slices = new Slices(BACKGROUND);
    const begins: boolean[] = [];
    for (const bytes of sizes) {
      const pause = slices.next(bytes);
      begins.push(pause !== undefined);
      await pause;
    }
    return begins;
  };
  const startsOf = (begins: readonly boolean[]) => begins.flatMap((isFirst, at) => (isFirst ? [at] : []));

  it('begin a piece with the first item, and after 32 items', async () => {
    expect(startsOf(await cut(Array(97).fill(1)))).to.deep.equal([0, 32, 64, 96]);
  });

  it('begin a piece after 32 KiB, however few the items', async () => {
    expect(startsOf(await cut(Array(9).fill(16_384)))).to.deep.equal([0, 2, 4, 6, 8]);
    expect(startsOf(await cut([1_000_000, 1, 1, 1_000_000, 1]))).to.deep.equal([0, 1, 4]);
    expect(startsOf(await cut([32_767, 1, 1]))).to.deep.equal([0, 2]);
  });

  it('wait for the turn of their client', async () => {
    const seen: string[] = [];
    const work = async (client: string) => {
      const slices = new Slices(new Task(client));
      for (let item = 0; item < 96; item++) {
        const pause = slices.next(0);
        if (!pause) continue;
        await pause;
        seen.push(client);
      }
    };
    await Promise.all([work('a'), work('b')]);
    expect(seen.join('')).to.equal('ababab');
  });
});
