import { expect } from 'chai';
import { yieldFairly, yieldToEventLoop } from '#src/shared/event-loop.js';

describe('yieldFairly', () => {
  it('resumes one task in each turn of the event loop, first come, first served', async () => {
    const seen: string[] = [];
    const tasks = ['a', 'b', 'c'].map(async (name) => {
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
    await Promise.all([...tasks, others]);
    const pieces = seen.filter((entry) => entry !== '-');
    expect(pieces).to.deep.equal(['a1', 'b1', 'c1', 'a2', 'b2', 'c2']);
    expect(seen.join('')).to.not.match(/\d[a-z]/);
  });

  it('rotates between clients, even if one client has more tasks', async () => {
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

  it('yields again after the queue was empty', async () => {
    await yieldFairly();
    await yieldToEventLoop();
    await yieldFairly();
  });
});
