import { expect } from 'chai';
import { MAX_REHEARSED_KEYS, RehearsedKeys } from '#src/adapters/inbound/http/import/line-writers.js';
import { PRODUCTS } from '#src/adapters/inbound/http/resources/products.js';
import { USERS } from '#src/adapters/inbound/http/resources/users.js';
import { inProcessService } from '../support/in-process-service.js';
import { LineStream } from '../support/line-stream.js';

describe('a dry run of more different keys than it follows', () => {
  const service = inProcessService();

  for (const query of ['match=sku&', ''])
    it(`refuses the lines of further keys alone: ${query}dryRun=true`, async () => {
      const stream = new LineStream(service.client.startLines(`/v1/products/imports?${query}dryRun=true`));
      const line = (n: number) => `{"name":"x","sku":"S-${n}"}\n`;
      const reading = stream.rest();
      for (let n = 0; n < MAX_REHEARSED_KEYS; n += 1_000)
        await stream.send(Array.from({ length: 1_000 }, (_, more) => line(n + more)).join(''));
      for (const n of [MAX_REHEARSED_KEYS, 7, MAX_REHEARSED_KEYS + 1, MAX_REHEARSED_KEYS - 1])
        await stream.send(line(n));
      await stream.send('{"name":"x"}\n');
      stream.end();
      const results = await reading;
      expect(results.slice(0, MAX_REHEARSED_KEYS).every(({ status }) => status === 201)).to.equal(true);
      const known = query === '' ? 409 : 200;
      const none = query === '' ? 201 : 400;
      expect(results.slice(MAX_REHEARSED_KEYS).map(({ status }) => status)).to.deep.equal([
        ...[413, known, 413, known, none],
      ]);
      expect(results[MAX_REHEARSED_KEYS]).to.deep.equal({
        line: MAX_REHEARSED_KEYS + 1,
        status: 413,
        error: {
          code: 'payload_too_large',
          message: 'A dry run follows 100000 different keys. Send the rest in another one.',
          details: [],
        },
      });
    });

  it('counts a key once, in each of its spellings', () => {
    const keys = new RehearsedKeys(USERS);
    for (let n = 0; n < MAX_REHEARSED_KEYS; n++) keys.admit('email', `Ann.${n}@Example.com`);
    for (const email of ['ann.0@example.com', 'ANN.99999@EXAMPLE.COM']) keys.admit('email', email);
    expect(() => keys.admit('email', 'ann.100000@example.com')).to.throw('100000 different keys');
    const cased = new RehearsedKeys(PRODUCTS);
    for (let n = 0; n < MAX_REHEARSED_KEYS; n++) cased.admit('sku', `s-${n}`);
    expect(() => cased.admit('sku', 'S-0')).to.throw('100000 different keys');
    cased.admit('sku', 's-0');
  });
});
