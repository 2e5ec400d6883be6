import { expect } from 'chai';
import type { Repository } from '#src/application/ports/repository.js';
import { unavailable } from '#src/domain/errors.js';
import type { Product } from '#src/domain/product.js';
import { expectRefusal } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { LineStream } from '../support/line-stream.js';
import { until } from '../support/until.js';

type Batched = 'findAllByUnique' | 'insertAll' | 'replaceAll' | 'removeAll' | 'confirmAll';

/** Each batch of an import that matches, with a line that needs it, and its result while the store is there. */
const LINES: readonly (readonly [Batched, line: object, result: object])[] = [
  ['findAllByUnique', { sku: 'one', name: 'a' }, { status: 200 }],
  ['insertAll', { sku: 'new', name: 'a' }, { status: 201 }],
  ['replaceAll', { sku: 'one', name: 'b' }, { status: 200 }],
  ['confirmAll', { sku: 'one' }, { status: 200, unchanged: true }],
  ['removeAll', { sku: 'one', deleted: true }, { status: 204 }],
];

describe('an import that matches, while the store is away', () => {
  const service = inProcessService();
  const line = (fields: object) => `${JSON.stringify(fields)}\n`;

  /** Makes a batch of the store fail. @returns what ends it */
  const breakStore = (name: Batched) => {
    const products = service.application.storage.products as Repository<Product> & Record<string, unknown>;
    const original = products[name] as unknown;
    products[name] = (async () => {
      throw unavailable('The store is away.');
    }) as never;
    return () => (products[name] = original as never);
  };

  for (const [name, fields, result] of LINES)
    it(`refuses the lines of the time, and goes on after it: ${name}`, async () => {
      await service.put('/v1/products/sku/one', { name: 'Lamp' });
      await service.delete('/v1/products/sku/new');
      const stream = new LineStream(service.startLines('/v1/products/imports?match=sku'));
      await stream.send(line({ sku: 'first', name: 'x' }));
      expect(await stream.next()).to.include({ line: 1 });
      const mend = breakStore(name);
      await stream.send(line(fields));
      const refused = await stream.next();
      const error = { code: 'unavailable', message: 'The store is away.', details: [] };
      expect(refused).to.deep.equal({ line: 2, status: 503, error });
      await stream.send(line({ sku: 'bad sku' }));
      expect(await stream.next(), 'what needs no store').to.include({ line: 3, status: 400 });
      mend();
      await stream.send(line(fields));
      expect(await stream.next()).to.include({ line: 4, ...result });
      stream.end();
      expect(await stream.rest()).to.deep.equal([]);
    });

  it('responds to a PUT by key with 503 and when to try again', async () => {
    for (const name of ['findAllByUnique', 'insertAll'] as const) {
      const mend = breakStore(name);
      const response = await service.put('/v1/products/sku/away', { name: 'x' });
      mend();
      await expectRefusal(response, 'unavailable', name);
      expect(response.headers).to.have.property('retry-after');
      expect(response.headers).to.not.have.any.keys('location', 'content-location', 'etag');
    }
    expect((await service.put('/v1/products/sku/away', { name: 'x' })).status).to.equal(201);
  });
});

describe('an import that matches, while a line is tried again', () => {
  const service = inProcessService();

  it('goes on with lines of other keys, and keeps the order of those of one key', async () => {
    for (const sku of ['lost', 'other']) await service.put(`/v1/products/sku/${sku}`, { name: 'Lamp' });
    const products = service.application.storage.products as Repository<Product>;
    const { replaceAll } = products;
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    let losses = 0;
    // The first write loses a race, and its second attempt waits.
    products.replaceAll = async (replacements) => {
      if (replacements.every(({ record }) => record.fields.sku !== 'lost'))
        return replaceAll.call(products, replacements);
      if (losses++ === 0) return ['version_conflict'];
      await released;
      return replaceAll.call(products, replacements);
    };
    const stream = new LineStream(service.startLines('/v1/products/imports?match=sku'));
    const send = (fields: object) => stream.send(`${JSON.stringify(fields)}\n`);
    const isSeen = async (sku: string, name: string) => {
      const check = async () => (await service.get(`/v1/products/sku/${sku}`)).json.name === name;
      const error = await until(sku, check, 60_000).catch((error: unknown) => error);
      expect(error, sku).to.equal(undefined);
    };
    await send({ sku: 'lost', name: 'a' });
    await until('the second attempt', () => losses === 2);
    await send({ sku: 'other', name: 'b' });
    await isSeen('other', 'b');
    await send({ sku: 'lost', name: 'c', brand: 'x' });
    await send({ sku: 'new', name: 'd' });
    await isSeen('new', 'd');
    release();
    stream.end();
    expect(await stream.rest()).to.deep.equal([
      { line: 1, status: 200, id: 1, version: 2 },
      { line: 2, status: 200, id: 2, version: 2 },
      { line: 3, status: 200, id: 1, version: 3 },
      { line: 4, status: 201, id: 3, version: 1 },
    ]);
    products.replaceAll = replaceAll;
  });
});
