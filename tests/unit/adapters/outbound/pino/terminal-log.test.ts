import { expect } from 'chai';
import { PinoLogger, TerminalLog } from '#src/adapters/outbound/pino/logger.js';
import { REQUEST_ENTRY } from '../../../../support/request-entry.js';

const REQUEST = { ...REQUEST_ENTRY, requestId: 'b7f1f8c2', trace: undefined };

describe('TerminalLog', () => {
  /** Returns the lines without their time, which is checked here. */
  const written = (log: (logger: PinoLogger) => void, hasColors = false): string[] => {
    const lines: string[] = [];
    const target = { write: (line: string) => void lines.push(line), flush: async () => {} };
    log(new PinoLogger('info', new TerminalLog(target, hasColors)));
    return lines.map((line) => {
      expect(line).to.match(/^[^\n]*\n$/);
      const [, text = 'no time'] = /^(?:\u001b\[2m)?\d\d:\d\d:\d\d(?:\u001b\[0m)? (.*)\n$/.exec(line) ?? [];
      return text;
    });
  };

  it('writes one line per event, with its details', () => {
    const details = { host: '127.0.0.1', port: 8443, reason: 'it is full', list: ['a b'], none: undefined };
    expect(written((logger) => logger.info('listening', details))).to.deep.equal([
      'info  listening  host=127.0.0.1  port=8443  reason="it is full"  list=["a b"]',
    ]);
    expect(written((logger) => logger.warn('STORE=memory forgets'))).to.deep.equal(['warn  STORE=memory forgets']);
  });

  it('writes a request with its status, duration and id', () => {
    const end = '1.234 ms  567 bytes  requestId=b7f1f8c2';
    const ofKey = '1.234 ms  567 bytes  principal=key:7  requestId=b7f1f8c2';
    const anonymous = { ...REQUEST, principal: undefined };
    for (const [entry, line] of [
      [REQUEST, `GET /v1/products/7  200  ${ofKey}`],
      [{ ...anonymous, complete: false }, `GET /v1/products/7  200, cut off  ${end}`],
      [{ ...anonymous, status: undefined, complete: false }, `GET /v1/products/7  no response, cut off  ${end}`],
      [{ ...REQUEST, path: '/x  200  0.1 ms  requestId=b7' }, `GET "/x  200  0.1 ms  requestId=b7"  200  ${ofKey}`],
      [{ ...anonymous, path: '/"x"=\u3000y' }, `GET "/\\"x\\"=\u3000y"  200  ${end}`],
      [
        { ...anonymous, trace: REQUEST_ENTRY.trace },
        `GET /v1/products/7  200  ${end}  trace_id=4bf92f3577b34da6a3ce929d0e0e4736`,
      ],
      [{ ...anonymous, path: '/a=b' }, `GET /a=b  200  ${end}`],
    ] as const)
      expect(written((logger) => logger.end(entry))).to.deep.equal([`info  ${line}`]);
  });

  it('writes the message of an error and where it was thrown, on the same line', () => {
    const [line] = written((logger) => logger.error('failed', { error: new TypeError('no\nluck') }));
    expect(line).to.match(/^error failed {2}error="TypeError: no\\nluck" at \S.*terminal-log\.test\.[jt]s:\d+/);
    expect(written((logger) => logger.error('failed', { error: 'text' }))).to.deep.equal([
      'error failed  error="text"',
    ]);
  });

  it('escapes characters that control a terminal or reorder text', () => {
    for (const character of '\u001b\u0000\n\r\t\u007f\u009b\u202e\u2066\u2028\u{e0041}') {
      const lines = written((logger) => {
        logger.end({ ...REQUEST, path: `/a${character}[31mb` });
        logger.info(`x${character}`, { [`n${character}`]: `v ${character}`, error: { message: character } });
      });
      expect(lines).to.have.length(2);
      for (const line of lines) expect(line, JSON.stringify(character)).to.not.include(character);
    }
    const [line] = written((logger) => logger.end({ ...REQUEST, path: '/a\u001b[31m日本é\u{e0041}' }));
    expect(line).to.include('/a\\u001b[31m日本é\\udb40\\udc41');
  });

  it('colours the level, if the terminal has colours', () => {
    expect(written((logger) => logger.warn('w'), true)).to.deep.equal(['\u001b[33mwarn \u001b[0m w']);
    expect(written((logger) => logger.error('e'), true)).to.deep.equal(['\u001b[31merror\u001b[0m e']);
    expect(written((logger) => logger.info('i'), true)).to.deep.equal(['info  i']);
  });

  it('writes no secret', () => {
    const key = `pcs_${'aB3'.repeat(12)}`;
    for (const line of written((logger) => {
      logger.end({ ...REQUEST, path: `/${key}` });
      logger.info(key, { key });
    }))
      expect(line).to.include('pcs_[secret]').and.not.include(key.slice(4));
  });
});
