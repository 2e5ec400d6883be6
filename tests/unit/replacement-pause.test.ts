import { expect } from 'chai';
import { ReplacementPause } from '#src/processes/replacement-pause.js';

describe('the pause before a worker is replaced', () => {
  it('grows while one after the other dies soon, to half a minute and no more', () => {
    const pause = new ReplacementPause();
    const pauses = Array.from({ length: 11 }, () => pause.after(500));
    expect(pauses).to.deep.equal([0, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('is none again after a worker that lived', () => {
    const pause = new ReplacementPause();
    for (let i = 0; i < 5; i++) pause.after(0);
    expect([pause.after(10_000), pause.after(0)]).to.deep.equal([0, 250]);
  });
});
