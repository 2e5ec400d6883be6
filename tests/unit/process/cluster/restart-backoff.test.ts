import { expect } from 'chai';
import { RestartBackoff } from '#src/process/cluster/worker-pool.js';

describe('the pause before a worker is replaced', () => {
  it('grows while one after the other dies soon, to half a minute and no more', () => {
    const backoff = new RestartBackoff();
    const pauses = Array.from({ length: 11 }, () => backoff.after(500));
    expect(pauses).to.deep.equal([0, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('is none again after a worker that lived', () => {
    const backoff = new RestartBackoff();
    for (let i = 0; i < 5; i++) backoff.after(0);
    expect([backoff.after(10_000), backoff.after(0)]).to.deep.equal([0, 250]);
  });
});
