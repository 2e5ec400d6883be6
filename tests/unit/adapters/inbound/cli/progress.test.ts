import { expect } from 'chai';
import { Progress } from '#src/adapters/inbound/cli/progress.js';

describe('the progress of a command', () => {
  const shown = (isTTY: boolean, columns = 80) => {
    const output = { text: '', isTTY, columns, write: (text: string) => (output.text += text) };
    const clock = { now: 0 };
    return { output, clock, progress: new Progress(output, () => clock.now) };
  };

  it('is one line on a terminal, with the rate and the time left, and is removed', () => {
    const { output, clock, progress } = shown(true);
    progress.show('copying', 0, 60_000);
    expect(output.text).to.equal('\r\u001b[2Kcopying: 0 of 60,000 (0 %)');
    clock.now = 50;
    progress.show('copying', 10, 60_000);
    clock.now = 2_000;
    output.text = '';
    progress.show('copying', 1_000, 60_000);
    expect(output.text).to.equal('\r\u001b[2Kcopying: 1,000 of 60,000 (1 %), 500/s, 1 min 58 s left');
    output.text = '';
    progress.clear();
    progress.clear();
    expect(output.text).to.equal('\r\u001b[2K');
  });

  it('has no more columns than the terminal, so that it can be overwritten', () => {
    const { output, clock, progress } = shown(true, 40);
    progress.show('copying', 0, 60_000);
    clock.now = 2_000;
    output.text = '';
    progress.show('copying', 1_000, 60_000);
    expect(output.text).to.equal('\r\u001b[2Kcopying: 1,000 of 60,000 (1 %), 500/s');
    clock.now = 4_000;
    output.text = '';
    progress.show('copying the reservations of all products', 1_000, 60_000);
    expect(output.text).to.equal('\r\u001b[2Kcopying the reservations of all product');
  });

  it('measures each step by itself, and knows no time left without a total', () => {
    const { output, clock, progress } = shown(true);
    progress.show('comparing', 0);
    clock.now = 10_000;
    progress.show('comparing', 50_000);
    expect(output.text).to.match(/comparing: 50,000, 5,000\/s$/);
    clock.now = 11_000;
    progress.show('verifying', 10, 100, ' MiB');
    clock.now = 12_000;
    progress.show('verifying', 30, 100, ' MiB');
    expect(output.text).to.match(/verifying: 30 of 100 MiB \(30 %\), 20 MiB\/s, 4 s left$/);
  });

  it('is a line every ten seconds elsewhere, without control characters', () => {
    const { output, clock, progress } = shown(false);
    for (clock.now = 0; clock.now <= 25_000; clock.now += 100) progress.show('creating products', clock.now, 50_000);
    progress.clear();
    expect(output.text).to.equal(
      'creating products: 10,000 of 50,000 (20 %), 1,000/s, 40 s left\n' +
        'creating products: 20,000 of 50,000 (40 %), 1,000/s, 30 s left\n',
    );
  });
});
