import { expect } from 'chai';
import {
  creatingWriter,
  MAX_REHEARSED_KEYS,
  RehearsedKeys,
} from '#src/adapters/inbound/http/import/line-writers.js';
import { PRODUCTS } from '#src/adapters/inbound/http/resources/products.js';
import { USERS } from '#src/adapters/inbound/http/resources/users.js';
import { newDraft } from '#src/application/records/record-format.js';
import type { RecordWriter } from '#src/application/records/record-service.js';
import type { Product } from '#src/domain/product.js';
import { inProcessService } from '../support/in-process-service.js';
import { LineStream } from '../support/line-stream.js';
import { AT_NIGHT } from '../support/run-settings.js';

describe('a dry run of more different keys than it follows', () => {
  const service = inProcessService();

  // Each makes so many records that the gate sends one; the keys of new records are below.
  for (const query of AT_NIGHT ? ['match=sku&', ''] : ['match=sku&'])
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

  it('refuses new records of further keys too, and takes one without a key', () => {
    const keys = new RehearsedKeys(PRODUCTS);
    for (let n = 0; n < MAX_REHEARSED_KEYS; n++) keys.admit('sku', `S-${n}`);
    const service = { draft: (body: unknown) => newDraft(PRODUCTS, body) } as RecordWriter<Product>;
    const writer = creatingWriter(service, PRODUCTS, undefined, keys);
    const prepare = (body: object) => writer.prepare({ number: 1, bytes: 1, body, issues: new Map() });
    expect(() => prepare({ name: 'x', sku: 'S' })).to.throw('100000 different keys');
    for (const body of [{ name: 'x', sku: 'S-7' }, { name: 'x' }, { name: 'x', sku: 5 }])
      expect(prepare(body).draft.issues).to.have.length('sku' in body && body.sku === 5 ? 1 : 0);
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
