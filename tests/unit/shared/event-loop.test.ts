import { expect } from 'chai';
import { yieldFairly, yieldToEventLoop } from '#src/shared/event-loop.js';

describe('turns', () => {
  it('in line are given one in each turn of the event loop, first come, first served', async () => {
    const seen: string[] = [];
    const works = ['a', 'b', 'c'].map(async (name) => {
      for (let piece = 1; piece <= 2; piece++) {
        await yieldFairly();
        seen.push(`${name}${piece}`);
      }
    });
    const others = (async () => {
      for (let turn = 1; turn <= 6; turn++) {
        await yieldToEventLoop();
        seen.push('-');
      }
    })();
    await Promise.all([...works, others]);
    const pieces = seen.filter((entry) => entry !== '-');
    expect(pieces).to.deep.equal(['a1', 'b1', 'c1', 'a2', 'b2', 'c2']);
    expect(seen.join('')).to.not.match(/\d[a-z]/);
  });

  it('in line are given to clients in rotation, however many works one of them has', async () => {
    const seen: string[] = [];
    const work = async (client: string, name: string) => {
      for (let piece = 1; piece <= 2; piece++) {
        await yieldFairly(client);
        seen.push(`${name}${piece}`);
      }
    };
    await Promise.all([work('a', 'a'), work('a', 'b'), work('a', 'c'), work('d', 'd')]);
    expect(seen).to.deep.equal(['a1', 'd1', 'b1', 'd2', 'c1', 'a2', 'b2', 'c2']);
  });

  it('in line come again after all were served', async () => {
    await yieldFairly();
    await yieldToEventLoop();
    await yieldFairly();
  });
});
