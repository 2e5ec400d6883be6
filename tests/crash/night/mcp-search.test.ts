import { expect } from 'chai';
import { FIRST_KEY, inProcessService } from '../../support/in-process-service.js';
import { type McpSession, mcpSessions } from '../../support/mcp-client.js';

describe('the search tools of catalogue mcp', () => {
  const service = inProcessService();
  const startSession = mcpSessions();
  let session: McpSession;

  before(async () => {
    const environment = { API_KEY: FIRST_KEY, PORT: `${service.port}`, DATA_DIR: service.folder };
    session = await startSession(environment);
    for (const [name, amount] of [
      ['Shelf, oak', 100],
      ['Shelf, pine', 200],
      ['Shelf, steel', 300],
    ] as const)
      await service.client.post('/v1/products', {
        name,
        price: { amount, currency: 'CHF' },
        sku: `S-${amount}`,
      });
  });

  it('filters, sorts and leads from page to page', async () => {
    const args = {
      filter: { 'price.currency': 'CHF', 'price.amount.gte': 200 },
      sort: ['-name'],
      limit: 1,
    };
    const first = await session.succeed('search_products', { ...args, count: true });
    expect(first.total).to.equal(2);
    expect(first.records).to.have.length(1);
    expect(first.records[0]).to.deep.include({ name: 'Shelf, steel', sku: 'S-300', version: 1 });
    const second = await session.succeed('search_products', { ...args, cursor: first.nextCursor });
    expect(second.records.map(({ name }: { name: string }) => name)).to.deep.equal(['Shelf, pine']);
    expect(second).to.have.keys('records');
  });

  it('searches products and users by words, together with filters', async () => {
    const found = await session.succeed('search_products', {
      q: 'STEEL she',
      filter: { 'sku.exists': true },
      fields: ['name'],
    });
    const [{ id }] = found.records;
    expect(found.records).to.deep.equal([{ id, name: 'Shelf, steel', version: 1 }]);
    await service.client.post('/v1/users', { name: 'Zoë', email: 'zoe@example.org' });
    const users = await session.succeed('search_users', { q: 'zoe' });
    expect(users.records.map(({ name }: { name: string }) => name)).to.deep.equal(['Zoë']);
    const { isError, value } = await session.call('search_products', { q: '?!' });
    expect([isError, value.code, value.details[0].name]).to.deep.equal([true, 'invalid_parameter', 'q']);
  });

  it('offers words where the interface does, and names the filters that ask for a value', async () => {
    const tools = await session.tools();
    const shown = (name: string) => {
      const { properties = {} } = tools.find((tool) => tool.name === name)?.inputSchema ?? {};
      return [Object.keys(properties).includes('q'), JSON.stringify(properties['filter']).includes('.exists')];
    };
    expect(shown('search_products')).to.deep.equal([true, true]);
    expect(shown('search_users')).to.deep.equal([true, false]);
    expect(shown('search_orders')).to.deep.equal([false, false]);
  });

  it('takes an array for several values, and shows the fields that are asked for', async () => {
    const found = await session.succeed('search_products', {
      filter: { 'sku.in': ['S-100', 'S-300'] },
      sort: ['name'],
      fields: ['name'],
    });
    const ids = found.records.map(({ id }: { id: number }) => id);
    expect(found).to.deep.equal({
      records: [
        { id: ids[0], name: 'Shelf, oak', version: 1 },
        { id: ids[1], name: 'Shelf, steel', version: 1 },
      ],
    });
    expect(ids.every(Number.isInteger), 'an update needs the id').to.equal(true);
  });

  it('returns at most 20 records unless the call asks for more', async () => {
    const filter = { name: 'Reader' };
    for (let i = 0; i < 21; i++) await service.client.post('/v1/users', { ...filter, email: `${i}@example.org` });
    const { records, nextCursor } = await session.succeed('search_users', { filter });
    expect(records).to.have.length(20);
    expect(nextCursor).to.be.a('string');
    expect((await session.succeed('search_users', { filter, limit: 1_000 })).records).to.have.length(21);
  });

  it('returns the problems that the service finds', async () => {
    const { isError, value } = await session.call('search_products', {
      limit: 1_001,
      sort: ['colour'],
      filter: { nmae: 'x', 'price.amount': 'much' },
    });
    expect(isError).to.equal(true);
    expect(value.details.map(({ name }: { name: string }) => name)).to.have.members([
      'limit',
      'sort',
      'nmae',
      'price.amount',
    ]);
    const messageOf = (of: string) => value.details.find(({ name }: { name: string }) => name === of).message;
    expect(messageOf('nmae')).to.include('the filters id, createdAt, updatedAt, name, ');
    expect(messageOf('price.amount')).to.include('in the smallest unit of the currency');
  });

  it('tells the unit of a number that filters', async () => {
    const [search] = await session.tools();
    const { filter } = search?.inputSchema.properties ?? {};
    expect([search?.name, search?.description]).to.deep.equal(['search_products', 'Search products, in pages.']);
    expect(JSON.stringify(filter)).to.include('price.amount: In the smallest unit of the currency');
  });

  it('rejects values that would become others in a query', async () => {
    const { isError, value } = await session.call('search_products', {
      filter: { 'name.in': ['Shelf, oak'], attributes: { colour: 'red' }, sku: null, name: 'Shelf, oak' },
    });
    expect([isError, value.code]).to.deep.equal([true, 'invalid_arguments']);
    expect(value.details.map(({ code, name }: Record<string, string>) => [code, name])).to.deep.equal([
      ['invalid_format', 'filter.name.in'],
      ['invalid_type', 'filter.attributes'],
      ['invalid_type', 'filter.sku'],
    ]);
  });
});
