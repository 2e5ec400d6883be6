import { expect } from 'chai';
import { CatalogueError } from 'product-catalogue-client';
import { all, catalogueService, rejection } from './catalogue-service.js';

describe('CSV by the client', () => {
  const { connect, attempts } = catalogueService();

  it('is imported from a text, a Blob or a stream, and exported with the columns that fields names', async () => {
    const { products } = connect();
    const texts = ['name,attributes.colour\nLamp,green\n"",\n', 'name\nDesk\n', 'name\nChair\n'] as const;
    const results = [
      ...(await all(products.importFile('text/csv', texts[0]))),
      ...(await all(products.importFile('text/csv', new Blob([texts[1]])))),
      ...(await all(products.importFile('text/csv', new Blob([texts[2]]).stream()))),
    ];
    expect(results.map(({ status }) => status)).to.deep.equal([201, 400, 201, 201]);
    const stream = await products.exportFile('text/csv', {
      sort: ['name'],
      fields: ['name', 'attributes.colour'],
    });
    expect(await new Response(stream).text()).to.equal(
      'name,attributes.colour\r\nChair,\r\nDesk,\r\nLamp,green\r\n',
    );
  });

  it('can be imported again with its key, and is not retried automatically', async () => {
    const { products } = connect();
    const idempotencyKey = 'delivery';
    const [first] = await all(products.importFile('text/csv', 'name\nStool\n', { idempotencyKey }));
    expect(await all(products.importFile('text/csv', 'name\nStool\n', { idempotencyKey }))).to.deep.equal([
      { ...first, replayed: true },
    ]);
    const busy = () => async () =>
      new Response('{"code":"unavailable","message":"later","details":[]}', { status: 503 });
    await rejection(all(connect({}, busy).products.importFile('text/csv', 'name\nx\n', { idempotencyKey })));
    expect(attempts).to.have.length(1);
  });

  it('has the errors of its header row', async () => {
    const error = await rejection(all(connect().products.importFile('text/csv', 'colour\n')));
    expect(error).to.be.instanceOf(CatalogueError).with.property('code', 'validation_failed');
  });
});
