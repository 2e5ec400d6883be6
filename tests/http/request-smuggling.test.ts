import { connect } from 'node:net';
import { expect } from 'chai';
import { FRAMING_CASES } from '../support/framing-cases.js';
import { exchange, faultsOf, whole } from '../support/framing-exchange.js';
import { statusesIn } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { inParallel } from '../support/parallel-limits.js';

const CONNECTIONS = 24;

describe('a message behind a proxy', () => {
  const service = inProcessService({ TLS: 'proxy', TRUSTED_PROXIES: '127.0.0.1' });

  /** `campaigns/faults/framing.test.ts` sends them in pieces too, over TLS and through proxies, and reads the log. */
  it('of bytes that no HTTP client sends gets the expected responses, and so does the request behind it', async () => {
    // The record that a few cases read.
    const headers = { 'X-Forwarded-Proto': 'https' };
    await service.post('/v1/products', { name: 'Lamp' }, { headers });
    const open = () => connect(service.port, '127.0.0.1');
    const faults: string[] = [];
    await inParallel(CONNECTIONS, FRAMING_CASES, async (tested) => {
      const found = faultsOf(await exchange(tested, open, 'whole', whole));
      faults.push(...found.map((fault) => `${tested.title}: ${fault}`));
    });
    expect(faults).to.deep.equal([]);
  });

  it('counts as HTTPS only by X-Forwarded-Proto, not by similar headers', async () => {
    for (const field of ['X_Forwarded_Proto: https', 'X-Forwarded-Proto\u00a0: https', 'X-Forwarded-SSL: on']) {
      const text = await service.raw(`GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${field}\r\n\r\n`);
      expect(statusesIn(text)[0], field).to.match(/^40[03]/);
    }
  });
});
