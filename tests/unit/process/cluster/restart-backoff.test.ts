import { expect } from 'chai';
import { RestartBackoff } from '#src/process/cluster/worker-pool.js';

describe('RestartBackoff', () => {
  it('doubles the pause while workers exit early, up to 30 seconds', () => {
    const backoff = new RestartBackoff();
    const pauses = Array.from({ length: 11 }, () => backoff.after(500));
    expect(pauses).to.deep.equal([0, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('resets the pause after a worker that ran for 10 seconds', () => {
    const backoff = new RestartBackoff();
    for (let i = 0; i < 5; i++) backoff.after(0);
    expect([backoff.after(10_000), backoff.after(0)]).to.deep.equal([0, 250]);
  });
});
