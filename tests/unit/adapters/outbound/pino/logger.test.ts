import { expect } from 'chai';
import { PinoLogger } from '#src/adapters/outbound/pino/logger.js';
import type { RequestEntry } from '#src/application/ports/observer.js';
import { REQUEST_ENTRY } from '../../../../support/request-entry.js';

class Lines {
  readonly lines: string[] = [];
  write = (line: string) => void this.lines.push(line.replace(/"time":"[^"]*"/, '"time":"T"'));
  flush = async () => {};
}

const KEY = `pcs_${'aB3'.repeat(12)}`;
const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiI3In0.c2lnbmF0dXJl';
const AWKWARD = [
  ...['', '"', '\\', '\\"\\u0041', '</script>&<!--', 'x'.repeat(41), `${'x'.repeat(300)}"`],
  ...['\u0000\u0001\b\t\n\v\f\r\u001f', '\u007f\u0080\u00a0ÿé', '\u2028\u2029\ufeff', '日本語 😀'],
  ...[`/products/${KEY}`, `/products/${KEY.toUpperCase()}?x=pcs%5F${KEY.slice(4)}`, `${JWT}"${KEY}\n`],
  'eyJshort pcs_short',
];

/** An entry by the names of its line, which lacks what only the metrics count. */
function detailsOf({
  requestId,
  trace,
  isDeprecated: _d,
  replays: _r,
  ...rest
}: RequestEntry): Record<string, unknown> {
  return { requestId, ...(trace && { trace_id: trace.traceId, span_id: trace.spanId }), ...rest };
}

describe('PinoLogger.end', () => {
  const written = (level: 'info' | 'warn', log: (logger: PinoLogger) => void) => {
    const destination = new Lines();
    log(new PinoLogger(level, destination));
    return destination.lines;
  };

  const entries: RequestEntry[] = [
    REQUEST_ENTRY,
    { ...REQUEST_ENTRY, status: undefined, complete: false },
    { ...REQUEST_ENTRY, principal: undefined },
    { ...REQUEST_ENTRY, status: 404, errorCode: 'not_found' },
    { ...REQUEST_ENTRY, trace: undefined, version: undefined, responseBytes: 0 },
    ...[0, 0.001, 5, 12.5, 99.99, 123_456.789, 1e9].map((durationMs) => ({ ...REQUEST_ENTRY, durationMs })),
    ...AWKWARD.flatMap((text) =>
      (['requestId', 'method', 'route', 'path', 'principal'] as const).map((name) => ({
        ...REQUEST_ENTRY,
        [name]: text,
      })),
    ),
  ];

  it('writes the bytes that pino writes', () => {
    for (const entry of entries) {
      const [line] = written('info', (logger) => logger.end(entry));
      expect([line]).to.deep.equal(written('info', (logger) => logger.info('request', detailsOf(entry))));
      expect(JSON.parse(line ?? '')).to.include({ msg: 'request', durationMs: entry.durationMs });
    }
  });

  it('writes no secret', () => {
    for (const entry of entries)
      for (const line of written('info', (logger) => logger.end(entry)))
        expect(line).to.not.include(KEY.slice(4)).and.not.include(JWT.slice(3, 20));
  });

  it('writes no line end inside a line, not even one of Unicode', () => {
    const text = 'a\u2028b\u2029c\u0085d\ne';
    for (const [line = ''] of [
      written('info', (logger) => logger.end({ ...REQUEST_ENTRY, path: text })),
      written('info', (logger) => logger.info('x', { path: text })),
    ]) {
      expect(line).to.match(/^[^\n\u0085\u2028\u2029]+\n$/);
      expect(JSON.parse(line).path).to.equal(text);
    }
  });

  it('writes the time of the line', () => {
    const before = Date.now();
    const lines: string[] = [];
    new PinoLogger('info', { write: (line) => void lines.push(line), flush: async () => {} }).end(REQUEST_ENTRY);
    const time: string = JSON.parse(lines[0] ?? '').time;
    expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(time)).to.be.within(before, Date.now());
  });

  it('writes nothing below its level', () => {
    expect(written('warn', (logger) => logger.end(REQUEST_ENTRY))).to.deep.equal([]);
  });
});
