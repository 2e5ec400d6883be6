import { Readable } from 'node:stream';
import { expect } from 'chai';
import { InputPatience, readLines } from '#src/adapters/inbound/http/import/read-lines.js';
import { CsvSplitter, type LineSplitter, NdjsonSplitter } from '#src/shared/record-splitters.js';

/** What happens to a stream: bytes arrive after so many seconds of waiting, or the service works for so long. */
type Step = { readonly after: number; readonly sent: string } | { readonly works: number };

/** @returns the seconds after which the stream was ended; undefined: it was not */
async function endOf(steps: readonly Step[], splitter: LineSplitter): Promise<number | undefined> {
  let now = 0;
  let ended: number | undefined;
  let due = Number.POSITIVE_INFINITY;
  const timers = {
    elapsed: () => now,
    after: (ms: number, call: () => void) => {
      due = now + ms;
      expire = call;
      return () => (due = Number.POSITIVE_INFINITY);
    },
  };
  let expire = () => {};
  const pass = (seconds: number) => {
    now += 1_000 * seconds;
    if (now >= due && ended === undefined) {
      ended = due / 1_000;
      expire();
    }
  };
  const request = new Readable({ read() {} });
  const left = [...steps];
  let sendNext = () => {};
  const patience = new InputPatience(
    {
      end: () => request.destroy(),
      working: (isWorking) => {
        if (isWorking) return;
        // Behind the start of the timer.
        setImmediate(() => sendNext());
      },
    },
    timers,
  );
  sendNext = () => {
    const next = left.shift();
    if (!next || 'works' in next) request.push(null);
    else {
      pass(next.after);
      if (ended === undefined) request.push(next.sent);
    }
  };
  try {
    for await (const _ of readLines({ request, patience }, splitter)) {
      const [next] = left;
      if (next && 'works' in next) {
        left.shift();
        now += 1_000 * next.works;
      }
    }
  } catch {}
  return ended;
}

const each = (after: number, sent: string, count: number): Step[] =>
  Array.from({ length: count }, () => ({ after, sent }));

describe('a stream that waits for its client', () => {
  const KIB = 1_024;
  const row = '{"name":"x"}\n';
  const cases: readonly [string, Step[], number | undefined][] = [
    ['a byte in 8 seconds', each(8, 'x', 10), 30],
    ['a record in 29 seconds', each(29, row, 10), undefined],
    ['a record in 31 seconds', each(31, row, 2), 30],
    ['16 KiB of a record in 29 seconds', each(29, 'x'.repeat(16 * KIB), 10), undefined],
    ['less of a record, faster', each(10, 'x'.repeat(5 * KIB), 10), 30],
    ['parts that make 16 KiB in 30 seconds', each(9, 'x'.repeat(6 * KIB), 12), undefined],
    ['many blank lines', each(8, ' \r\n'.repeat(8 * KIB), 10), 30],
    ['a blank line without end', each(8, ' '.repeat(16 * KIB), 10), 30],
    [
      'a record, and then the end of the next one',
      [{ after: 20, sent: `${row}{` }, ...each(20, '"name":"x"}\n{', 3)],
      undefined,
    ],
    [
      'work of the service in between, which is no waiting',
      [{ after: 20, sent: row }, { works: 100 }, { after: 20, sent: row }, { works: 100 }, { after: 20, sent: row }],
      undefined,
    ],
  ];
  for (const [name, steps, end] of cases)
    it(`${end === undefined ? 'goes on' : 'ends'}: ${name}`, async () => {
      expect(await endOf(steps, new NdjsonSplitter(1_048_576))).to.equal(end);
    });

  it('takes no record of CSV whose cells are all empty for one', async () => {
    const header: Step = { after: 1, sent: 'name,sku\n' };
    expect(await endOf([header, ...each(8, ',\n'.repeat(10_000), 10)], new CsvSplitter(1_000))).to.equal(31);
    expect(await endOf([header, ...each(8, 'x,\n', 10)], new CsvSplitter(1_000))).to.equal(undefined);
  });
});
