import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { PinoLogger } from '#src/adapters/outbound/pino/logger.js';
import { REQUEST_ENTRY } from '../../support/request-entry.js';

describe('docs/reference/logging.md', () => {
  const text = readFileSync('docs/reference/logging.md', 'utf8');
  const lines: string[] = [];
  new PinoLogger('info', { write: (line) => void lines.push(line), flush: async () => {} }).end({
    ...REQUEST_ENTRY,
    status: 404,
    waitedMs: 1,
    errorCode: 'not_found',
  });
  const fields = Object.keys(JSON.parse(lines[0] ?? ''));

  it('describes every field of the line of a request, in its order', () => {
    const [, section = ''] = /^## The line of a request$([\s\S]*?)^## /m.exec(text) ?? [];
    expect([...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)).to.deep.equal(fields);
  });

  it('shows a line with every field', () => {
    const [, example = ''] = /```json\n([^\n]*)\n```/.exec(text) ?? [];
    const { time, pid, ...shown } = JSON.parse(example);
    expect(Object.keys(JSON.parse(example))).to.deep.equal(fields);
    const { time: _time, pid: _pid, ...written } = JSON.parse(lines[0] ?? '');
    expect([typeof time, typeof pid, shown]).to.deep.equal(['string', 'number', written]);
  });
});
