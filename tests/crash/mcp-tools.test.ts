import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect } from 'chai';
import { GENERATION_MS } from '#src/application/changes/feed-state.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { list } from '../support/list.js';
import { type McpSession, mcpSessions } from '../support/mcp-client.js';

const LAMP = { name: 'Lamp', price: { amount: 1_999, currency: 'EUR' } };

interface Described {
  readonly description?: string;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly items?: Described;
}

type Details = readonly Readonly<Record<string, string>>[];
/** The code of each problem, and the argument or the field that has it. */
const problems = (details: Details) => details.map(({ code, name, pointer }) => `${code} ${name ?? pointer}`);
const named = (records: readonly { readonly name: string }[]) => records.map(({ name }) => name);

describe('the tools of catalogue mcp', () => {
  const service = inProcessService();
  const environment = (API_KEY = FIRST_KEY) => ({ API_KEY, PORT: `${service.port}`, DATA_DIR: service.folder });
  const startSession = mcpSessions();
  let session: McpSession;
  let deleter: McpSession;
  /** Calls a tool, which refuses. @returns its error */
  const refusal = async (name: string, args: object) => {
    const { isError, value } = await session.call(name, { ...args });
    expect(isError, JSON.stringify(value)).to.equal(true);
    return value;
  };

  before(async () => {
    session = await startSession(environment());
    deleter = await startSession(environment(), ['--allow-delete']);
  });

  it('offers search, read, create and update for each resource, upsert and counts for products, and no deletion', async () => {
    const tools = await session.tools();
    expect(tools.map(({ name }) => name)).to.deep.equal([
      ...['search_products', 'read_product', 'count_products_by'],
      ...['create_product', 'update_product', 'upsert_product'],
      ...['search_users', 'read_user', 'create_user', 'update_user'],
      ...['search_orders', 'read_order', 'create_order', 'update_order'],
    ]);
    expect(JSON.stringify(tools).length, 'models pay for each character').to.be.lessThan(24_000);
    expect(session.client.getInstructions()).to.include('never an instruction');
  });

  it('marks what only reads, what destroys and what can be repeated', async () => {
    const tools = await deleter.tools();
    const hints = (verb: string) => tools.find(({ name }) => name.startsWith(verb))?.annotations;
    for (const verb of ['search', 'read', 'count'])
      expect(hints(verb)).to.deep.equal({ readOnlyHint: true, openWorldHint: false });
    const rest = { readOnlyHint: false, idempotentHint: true, openWorldHint: false };
    for (const [verb, destructiveHint] of Object.entries({ create: false, update: true, upsert: true, delete: true }))
      expect(hints(verb), verb).to.deep.equal({ ...rest, destructiveHint });
  });

  it('describes every field and argument, and the unit of a price', async () => {
    const missing: string[] = [];
    const visit = (path: string, node: Described) => {
      for (const [name, one] of Object.entries(node.properties ?? {})) {
        if (!one.description && !one.$ref) missing.push(`${path}.${name}`);
        visit(`${path}.${name}`, one);
      }
      if (node.items) visit(path, node.items);
    };
    const tools = await deleter.tools();
    for (const { name, inputSchema } of tools) visit(name, inputSchema as Described);
    expect(missing).to.deep.equal([]);
    for (const name of ['create_product', 'update_product', 'upsert_product']) {
      const text = JSON.stringify(tools.find((tool) => tool.name === name));
      expect(text, name).to.include('the smallest unit of the currency (1999 is 19.99 EUR)');
    }
    const pieces = JSON.stringify(tools.find(({ name }) => name === 'create_order'));
    expect(pieces).to.include('in pieces');
  });

  it('is documented: every tool and every argument', async () => {
    const rows = readFileSync('docs/how-to/mcp.md', 'utf8').split('\n');
    for (const { name, inputSchema } of (await deleter.tools()).slice(0, 7)) {
      const row = rows.find((line) => line.startsWith(`| \`${name}\` |`));
      for (const argument of Object.keys(inputSchema.properties ?? {})) expect(row, name).to.include(`\`${argument}\``);
    }
  });

  it('takes the schemas of its arguments from the document of the service', async () => {
    const tools = await session.tools();
    const ajv = formats.default(new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false }));
    for (const { name, inputSchema } of tools) {
      ajv.compile(inputSchema);
      for (const argument of Object.keys(inputSchema.properties ?? {}))
        expect(argument, name).to.match(/^[a-zA-Z0-9_.-]{1,64}$/);
    }
    const accepts = (tool: string, args: object) =>
      ajv.validate(tools.find(({ name }) => name === tool)?.inputSchema ?? false, args);
    for (const [tool, isAccepted, ...all] of [
      ['create_product', true, { record: LAMP }],
      ['create_product', false, { record: { ...LAMP, name: '' } }, { record: { ...LAMP, id: 1 } }],
      ['create_product', false, { record: { ...LAMP, price: { amount: 1 } } }],
      ['update_product', true, { id: 1, version: 1, changes: { sku: 'A-1' } }, { id: 1, version: 1, remove: ['sku'] }],
      ['update_product', false, { id: 1, version: 1, remove: ['name'] }, { id: 1, version: 1, changes: { id: 1 } }],
      ['update_product', false, { id: 1, changes: {} }],
      ['update_order', false, { id: 1, version: 1 }],
      ['upsert_product', true, { sku: 'A-1', fields: {}, remove: ['price'] }],
      ['upsert_product', false, { sku: 'A-1', remove: ['sku'] }, { sku: 'A-1', fields: { sku: 'A-2' } }],
      ['upsert_product', false, { fields: { name: 'Lamp' } }],
      ['search_products', true, { fields: ['sku'] }],
      ['create_order', false, { record: { userId: 1, items: [] } }],
    ] as const)
      for (const args of all) expect(accepts(tool, args), `${tool} ${JSON.stringify(args)}`).to.equal(isAccepted);
  });

  it('has one type for each value, since gateways drop a tool with several', async () => {
    const visit = (path: string, node: unknown): string[] => {
      if (typeof node !== 'object' || node === null) return node === null ? [path] : [];
      return Object.entries(node).flatMap(([name, part]) =>
        name === 'type' && Array.isArray(part) ? [`${path}.type`] : visit(`${path}.${name}`, part),
      );
    };
    expect((await deleter.tools()).flatMap(({ name, inputSchema }) => visit(name, inputSchema))).to.deep.equal([]);
  });

  describe('create', () => {
    it('creates one record however often the same call is made, by any process', async () => {
      const record = { ...LAMP, attributes: { watts: 7 } };
      const calls = [session, deleter, session, deleter].map((one) => one.succeed('create_product', { record }));
      const results = await Promise.all(calls);
      expect(new Set(results.map(({ id }) => id))).to.have.length(1);
      expect(results.filter(({ note }) => note === undefined)).to.have.length(1);
      expect(results[0]).to.deep.include({ ...record, version: 1 });
    });

    it('creates one more identical record if the call says so', async () => {
      const record = { name: 'Twin' };
      const first = await session.succeed('create_product', { record });
      const again = await session.succeed('create_product', { record });
      expect(again.id).to.equal(first.id);
      expect(again.note).to.include('copy: 2');
      const second = await session.succeed('create_product', { record, copy: 2 });
      expect(second).to.deep.equal({ id: second.id, name: 'Twin', version: 1 });
      expect(second.id).to.not.equal(first.id);
    });
  });

  describe('update', () => {
    it('removes the fields that remove names, and refuses to set them too', async () => {
      const record = { ...LAMP, sku: 'U-4', brand: 'Nordlicht', tags: ['a'], attributes: { a: 1, b: 2 } };
      const { id } = await session.succeed('create_product', { record });
      const update = (version: number, args: object) => session.succeed('update_product', { id, version, ...args });
      const removed = await update(1, { remove: ['tags', 'price'], changes: { name: 'Bright', brand: null } });
      expect(removed).to.deep.equal({ id, name: 'Bright', sku: 'U-4', attributes: { a: 1, b: 2 }, version: 2 });
      const bare = await update(2, { remove: ['sku', 'attributes'] });
      expect(bare).to.deep.equal({ id, name: 'Bright', version: 3 });
      for (const [args, name] of [
        [{ remove: ['brand'], changes: { brand: 'Acme' } }, 'remove'],
        [{ remove: ['attributes'], changes: { attributes: {} } }, 'remove'],
        [{ remove: ['name'] }, 'remove'],
        [{ remove: ['id'] }, 'remove'],
        [{ remove: [5] }, 'remove'],
        [{ remove: 'brand' }, 'remove'],
        [{ remove: [] }, 'changes'],
        [{}, 'changes'],
      ] as const) {
        const { code, details } = await refusal('update_product', { id, version: 3, ...args });
        expect([code, details[0].name], JSON.stringify(args)).to.deep.equal(['invalid_arguments', name]);
      }
      expect(await update(3, { remove: ['brand'], changes: { brand: null } })).to.deep.include({ version: 3 });
    });

    it('of a record that has changed changes nothing, and shows its current state', async () => {
      const { id } = await session.succeed('create_product', { record: { ...LAMP, sku: 'U-2' } });
      await service.patch(`/v1/products/${id}`, { name: 'Changed' });
      const { code, current, remedy } = await refusal('update_product', { id, version: 1, changes: { name: 'Lost' } });
      expect(code).to.equal('precondition_failed');
      expect(current).to.deep.equal({ ...LAMP, id, sku: 'U-2', name: 'Changed', version: 2 });
      expect(remedy).to.include('update_product with the new version');
    });

    it('is not offered to a key that may not read, which learns nothing by a deletion either', async () => {
      const fields = { name: 'writer', scopes: ['products:write'] };
      const { key } = (await service.post('/v1/api-keys', fields)).json;
      const writer = await startSession(environment(key), ['--allow-delete']);
      const names = (await writer.tools()).map(({ name }) => name);
      expect(names).to.deep.equal(['create_product', 'delete_product']);
      const { id } = await writer.succeed('create_product', { record: { ...LAMP, sku: 'U-3' } });
      await service.patch(`/v1/products/${id}`, { name: 'Changed' });
      const { value } = await writer.call('delete_product', { id, version: 1 });
      expect(value).to.have.keys('code', 'message', 'details', 'remedy');
    });
  });

  describe('upsert', () => {
    const upsert = (sku: string, fields: object) => session.succeed('upsert_product', { sku, fields });

    it('creates a product, and then changes what it names', async () => {
      const { id, ...created } = await upsert('S-1', { ...LAMP, description: null });
      expect(created).to.deep.equal({ ...LAMP, sku: 'S-1', version: 1, created: true });
      const fields = { name: 'Torch', description: 'Green', sku: 'S-2' };
      for (const _ of ['a change', 'none'])
        expect(await upsert('S-1', fields)).to.deep.equal({
          ...{ ...LAMP, ...fields },
          ...{ id, sku: 'S-1', version: 2, created: false },
        });
      expect(await upsert('S-1', { description: null })).to.deep.include({ name: 'Torch', version: 3 });
      const remove = ['price', 'brand'];
      const removed = await session.succeed('upsert_product', { sku: 'S-1', remove });
      expect(removed).to.deep.equal({ id, sku: 'S-1', name: 'Torch', version: 4, created: false });
      const made = await session.succeed('upsert_product', { sku: 'S-9', fields: { name: 'New' }, remove });
      expect(made).to.deep.include({ name: 'New', created: true });
    });

    it('makes one product of concurrent calls, and loses no field', async () => {
      const calls = Array.from({ length: 20 }, (_, at) =>
        upsert('S-3', { name: 'Lamp', attributes: { [`a${at}`]: at } }),
      );
      const results = await Promise.all(calls);
      expect(new Set(results.map(({ id }) => id))).to.have.length(1);
      expect(results.filter(({ created }) => created)).to.have.length(1);
      const { attributes } = await session.succeed('read_product', { id: results[0].id });
      expect(Object.keys(attributes)).to.have.length(20);
    });
  });

  describe('search', () => {
    const search = (args: object) => session.succeed('search_products', { ...args });
    before(async () => {
      for (const [name, amount] of Object.entries({ 'Shelf, oak': 100, 'Shelf, pine': 200, 'Shelf, steel': 300 }))
        await service.post('/v1/products', { name, price: { amount, currency: 'CHF' }, sku: `S-${amount}` });
    });

    it('filters, sorts, counts, chooses fields and leads from page to page', async () => {
      const filter = { 'price.currency': 'CHF', 'price.amount.gte': 200, 'sku.in': ['S-100', 'S-200', 'S-300'] };
      const args = { filter, q: 'SHE', sort: ['-name'], fields: ['name'], limit: 1 };
      const first = await search({ ...args, count: true });
      const [{ id }] = first.records;
      expect(id, 'an update needs the id').to.be.a('number');
      expect([first.total, first.records]).to.deep.equal([2, [{ id, name: 'Shelf, steel', version: 1 }]]);
      const { records, ...rest } = await search({ ...args, cursor: first.nextCursor });
      expect([named(records), rest]).to.deep.equal([['Shelf, pine'], {}]);
    });

    it('offers words where the interface does, filters that ask for a value, and the unit of numbers', async () => {
      const tools = await session.tools();
      const shown = (name: string) => {
        const { properties = {} } = tools.find((tool) => tool.name === name)?.inputSchema ?? {};
        const filters = JSON.stringify(properties['filter']);
        return [
          'q' in properties,
          filters.includes('.exists takes true or false'),
          filters.includes('price.amount: in the smallest unit'),
        ];
      };
      expect(shown('search_products')).to.deep.equal([true, true, true]);
      expect(shown('search_users')).to.deep.equal([true, false, false]);
      expect(shown('search_orders')).to.deep.equal([false, false, false]);
    });

    it('returns at most 20 records unless the call asks for more', async () => {
      const filter = { name: 'Reader' };
      for (let i = 0; i < 21; i++) await service.post('/v1/users', { ...filter, email: `${i}@example.org` });
      const { records, nextCursor } = await session.succeed('search_users', { filter });
      expect([records.length, typeof nextCursor]).to.deep.equal([20, 'string']);
      expect((await session.succeed('search_users', { filter, limit: 1_000 })).records).to.have.length(21);
    });

    it('returns the problems that the service finds, and rejects values that would become others in a query', async () => {
      const filter = { nmae: 'x', 'price.amount': 'much' };
      const { details } = await refusal('search_products', { limit: 1_001, sort: ['colour'], filter });
      expect(named(details)).to.have.members(['limit', 'sort', 'nmae', 'price.amount']);
      const messageOf = (of: string) => details.find(({ name }: { name: string }) => name === of).message;
      expect(messageOf('nmae')).to.include('the filters id, createdAt, updatedAt, name, ');
      expect(messageOf('price.amount')).to.include('in the smallest unit of the currency');
      const invalid = { 'name.in': ['Shelf, oak'], attributes: { colour: 'red' }, sku: null, name: 'Shelf, oak' };
      const wrong = await refusal('search_products', { filter: invalid });
      expect(wrong.code).to.equal('invalid_arguments');
      expect(problems(wrong.details)).to.deep.equal(list`invalid_format filter.name.in
        invalid_type filter.attributes  invalid_type filter.sku`);
    });
  });

  describe('count', () => {
    before(async () => {
      for (const [brand, watts] of [
        ['Counted A', 5],
        ['Counted A', 7.5],
        ['Counted B', 10],
      ] as const)
        await session.succeed('create_product', {
          record: { name: `Counted lamp of ${watts}`, brand, attributes: { watts, kind: 'counted' } },
        });
    });

    it('counts products by their values, under filters by attributes, which a search takes too', async () => {
      const filter = { 'attributes.kind': 'counted', 'attributes[watts].gte': 6 };
      const fields = ['brand', 'attributes[watts]'];
      expect(await session.succeed('count_products_by', { fields, filter, q: 'lamp', limit: 1 })).to.deep.equal({
        facets: [
          { field: 'brand', values: [{ value: 'Counted A', count: 1 }], more: true },
          { field: 'attributes[watts]', values: [{ value: 7.5, count: 1 }], more: true },
        ],
      });
      const narrowed = { ...filter, 'attributes[watts].in': [5, 10] };
      const found = await session.succeed('search_products', { filter: narrowed, sort: ['-stock', '-id'] });
      expect(found.records[0].brand).to.equal('Counted B');
      expect(found.records).to.have.length(1);
    });

    it('refuses a filter in the style of another service, and takes live for no status', async () => {
      for (const name of ['search_products', 'count_products_by']) {
        const fields = ['brand'];
        const { code, message } = await refusal(name, { fields, filter: { 'attributes.watts.gte': 5 } });
        expect(code).to.equal('unknown_parameter');
        expect(message).to.include('write attributes[watts].gte;');
        await session.succeed(name, { fields, filter: { status: 'live', 'status.in': ['live', 'draft'] } });
      }
    });

    it('returns what the service refuses, and what is no filter', async () => {
      const several = await refusal('count_products_by', { fields: ['brand', 'tags'], prefix: 'x' });
      expect(several.code).to.equal('invalid_parameter');
      const wrong = await refusal('count_products_by', { filter: { prefix: 'x', sort: 'name' } });
      expect(wrong.code).to.equal('invalid_arguments');
      expect(named(wrong.details)).to.include('fields');
      const own = await refusal('count_products_by', { fields: ['brand'], filter: { prefix: 'x' } });
      expect(problems(own.details)).to.deep.equal(['unknown_parameter filter.prefix']);
    });
  });

  it('returns missing, unknown and wrong arguments all at once', async () => {
    const { code, details } = await refusal('update_product', { id: '1', changes: [], etag: '"1"', toString: 1 });
    expect(code).to.equal('invalid_arguments');
    expect(problems(details)).to.deep.equal(list`required version  invalid_type id  invalid_type changes
      unknown_parameter etag  unknown_parameter toString`);
    expect(problems((await refusal('read_product', { id: 0 })).details)).to.deep.equal(['out_of_range id']);
    expect((await refusal('read_product', { id: 9_999_999 })).code).to.equal('not_found');
  });

  it('responds to an unknown tool with an error of the protocol', async () => {
    const error = await session.call('delete_product', { id: 1, version: 1 }).catch((cause) => cause);
    expect(error).to.include({ code: -32_602, message: 'There is no tool delete_product.' });
  });

  it('deletes the version that was read if --allow-delete is given', async () => {
    const { id: userId } = await deleter.succeed('create_user', { record: { name: 'Bo', email: 'bo@example.org' } });
    const { id: productId } = await deleter.succeed('create_product', { record: { name: 'Gone' } });
    const { id } = await deleter.succeed('create_order', { record: { userId, items: [{ productId, quantity: 1 }] } });
    const stale = await deleter.call('delete_order', { id, version: 2 });
    expect(stale.value.current.version).to.equal(1);
    expect(await deleter.succeed('delete_order', { id, version: 1 })).to.deep.equal({ id, deleted: true });
    expect((await deleter.call('read_order', { id })).value.code).to.equal('not_found');
  });

  it('refuses a version from before the store was replaced, until the record is shown again', async () => {
    const create = (name: string) => session.succeed('create_product', { record: { name } });
    const update = (id: number) => session.call('update_product', { id, version: 1, changes: { sku: `R-${id}` } });
    const [one, other, listed] = [await create('One'), await create('Other'), await create('Listed')];
    await service.application.feedState.reset();
    service.clock.pass(GENERATION_MS);
    expect((await session.succeed('read_product', { id: other.id })).version).to.equal(1);
    const refused = await update(one.id);
    expect([refused.value.code, refused.value.current?.version]).to.deep.equal(['precondition_failed', 1]);
    expect((await update(one.id)).value.version).to.equal(2);
    expect((await update(other.id)).value.version).to.equal(2);
    await session.succeed('search_products', { filter: { id: listed.id } });
    expect((await update(listed.id)).value.version).to.equal(2);
    const later = await startSession(environment());
    const [found] = (await later.succeed('search_products', { filter: { name: 'Listed' } })).records;
    const changes = { name: 'Found' };
    const { version } = found;
    expect((await later.succeed('update_product', { id: found.id, version, changes })).version).to.equal(3);
  });
});
