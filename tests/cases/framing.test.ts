import { connect } from 'node:net';
import { expect } from 'chai';
import { FRAMING_CASES } from '../support/framing-cases.js';
import { exchange, faultsOf, whole } from '../support/framing-exchange.js';
import { inProcessService } from '../support/in-process-service.js';
import { inParallel } from '../support/parallel-limits.js';

const CONNECTIONS = 24;

/** `campaigns/faults/framing.test.ts` sends them in pieces too, over TLS and through proxies, and reads the log. */
describe('bytes that no HTTP client sends, in one packet', () => {
  const service = inProcessService({ TLS: 'proxy', TRUSTED_PROXIES: '127.0.0.1' });

  it('get the expected responses, and so does the request behind them', async () => {
    // The record that a few cases read.
    await service.client.post(
      '/v1/products',
      { name: 'Lamp' },
      { headers: { 'X-Forwarded-Proto': 'https' } },
    );
    const open = () => connect(service.port, '127.0.0.1');
    const faults: string[] = [];
    await inParallel(CONNECTIONS, FRAMING_CASES, async (tested) => {
      const found = faultsOf(await exchange(tested, open, 'whole', whole));
      faults.push(...found.map((fault) => `${tested.title}: ${fault}`));
    });
    expect(faults).to.deep.equal([]);
  });
});
