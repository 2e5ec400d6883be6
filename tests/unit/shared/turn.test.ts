import { expect } from 'chai';
import { yieldToEventLoop } from '#src/shared/event-loop.js';
import { SERVICE_TURN, Turn } from '#src/shared/turn.js';

describe('Turn', () => {
  it('resumes one task in each turn of the event loop, first come, first served', async () => {
    const seen: string[] = [];
    const tasks = ['a', 'b', 'c'].map(async (name) => {
      for (let piece = 1; piece <= 2; piece++) {
        await SERVICE_TURN.next();
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
      const turn = new Turn(client);
      for (let piece = 1; piece <= 2; piece++) {
        await turn.next();
        seen.push(`${name}${piece}`);
      }
    };
    await Promise.all([work('a', 'a'), work('a', 'b'), work('a', 'c'), work('d', 'd')]);
    expect(seen).to.deep.equal(['a1', 'd1', 'b1', 'd2', 'c1', 'a2', 'b2', 'c2']);
  });

  it('yields again after the queue was empty', async () => {
    await SERVICE_TURN.next();
    await yieldToEventLoop();
    await SERVICE_TURN.next();
  });
});
