import { expect } from 'chai';
import { compared, figuresIn, recordOf } from '../../../scripts/compared-figures.js';
import type { Figure } from '../../support/figure.js';

const FIGURES: readonly Figure[] = [
  { subject: 'overload', name: 'p99 at 2x', value: 62.1234, unit: 'ms' },
  { subject: 'overload', name: 'peak', value: 3_456.7, unit: 'per s' },
  { subject: 'overload', name: 'refused', value: 17 },
  { subject: 'floods', name: 'worst flood', value: 'pages, 70 ms' },
  { subject: 'floods', name: 'most memory', value: 311, unit: 'MiB' },
];

describe('the figures of a run', () => {
  const worse = (against: Record<string, number>) =>
    compared(FIGURES, { figures: { overload: against } })
      .filter(({ isMuchWorse }) => isMuchWorse)
      .map(({ figure }) => figure.name);

  it('are read from JSON lines, and the last of one name counts', () => {
    const first = { ...FIGURES[0], value: 1 };
    const lines = [first, ...FIGURES].map((figure) => `${JSON.stringify(figure)}\n`).join('');
    expect(figuresIn(lines)).to.deep.equal(FIGURES);
    expect(figuresIn('')).to.deep.equal([]);
  });

  it('are recorded with their units only, sorted and rounded', () => {
    const { machine, figures } = recordOf(FIGURES, '2 cores');
    expect(machine).to.equal('2 cores');
    expect(JSON.stringify(figures)).to.equal(
      '{"floods":{"most memory, MiB":311},"overload":{"p99 at 2x, ms":62.1,"peak, per s":3460}}',
    );
  });

  it('are worse if a time is longer than 1.5 times, or a rate lower', () => {
    expect(worse({ 'p99 at 2x, ms': 41.5, 'peak, per s': 5_100 })).to.deep.equal([]);
    expect(worse({ 'p99 at 2x, ms': 41.4 })).to.deep.equal(['p99 at 2x']);
    expect(worse({ 'peak, per s': 5_200 })).to.deep.equal(['peak']);
  });

  it('compare with no other unit, no zero and no count', () => {
    expect(worse({ 'p99 at 2x, s': 0.001, 'p99 at 2x, ms': 0 })).to.deep.equal([]);
    expect(compared(FIGURES, { figures: {} }).map(({ before }) => before)).to.deep.equal(FIGURES.map(() => undefined));
  });

  it('stay equal to their own record', () => {
    const own = recordOf(FIGURES, '');
    expect(compared(FIGURES, own).some(({ isMuchWorse }) => isMuchWorse)).to.equal(false);
    expect(compared(FIGURES, own)[0]?.before).to.equal(62.1);
  });
});
