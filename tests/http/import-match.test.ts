import { expect } from 'chai';
import { expectIssues, type HttpClient } from '../support/http-client.js';
import { NDJSON, ndjson, outcomes, rehearsedImport, resultsOf } from '../support/imports.js';
import { type InProcessService, inProcessService } from '../support/in-process-service.js';
import type { ResultLine } from '../support/line-stream.js';

type Fields = Readonly<Record<string, unknown>>;

/** A field by which the lines of an import find the records of a resource. */
interface Matched {
  readonly plural: string;
  readonly match: string;
  /** Fields of a new record, different for each number. The first one is required. */
  fields(n: number): Fields;
  /** Values that no record can have in the field, with the code of their issue. */
  readonly noKeys: readonly (readonly [value: unknown, code: string])[];
}

const each = (code: string, ...values: unknown[]) => values.map((value) => [value, code] as const);
const WRONG_IDS = [...each('invalid_type', '1', true, [], {}, 1.5), ...each('out_of_range', 0, -1)];
const UNFIT_TEXTS = [...each('too_short', ''), ...each('invalid_format', 'a b', 'é')];
const WRONG_TEXTS = [...each('invalid_type', 5, true, [], {}), ...UNFIT_TEXTS];

const product = (n: number) => ({ name: `product ${n}`, sku: `S-${n}` });
const user = (n: number) => ({ name: `user ${n}`, email: `User.${n}@Example.com` });

const PRODUCTS_BY_SKU: Matched = {
  plural: 'products',
  match: 'sku',
  fields: product,
  noKeys: [...WRONG_TEXTS, ['x'.repeat(65), 'too_long']],
};
const PRODUCTS_BY_ID: Matched = { ...PRODUCTS_BY_SKU, match: 'id', noKeys: WRONG_IDS };
const USERS_BY_EMAIL: Matched = {
  plural: 'users',
  match: 'email',
  fields: user,
  noKeys: [...WRONG_TEXTS, ['nobody', 'invalid_format']],
};
const ORDERS_BY_ID: Matched = {
  plural: 'orders',
  match: 'id',
  fields: (n) => ({ items: [{ productId: 1, quantity: n }], userId: 1 }),
  noKeys: WRONG_IDS,
};

/** The imports of a resource by one field, in a running service. */
class Imports {
  private count = 0;
  readonly path: string;

  constructor(
    readonly by: Matched,
    readonly service: InProcessService,
  ) {
    this.path = `/v1/${by.plural}/imports`;
  }

  get client(): HttpClient {
    return this.service.client;
  }

  get isById(): boolean {
    return this.by.match === 'id';
  }

  /** Fields that no record has yet. */
  newFields = () => this.by.fields(++this.count);

  async create(fields = this.newFields()) {
    const response = await this.client.post(`/v1/${this.by.plural}`, fields);
    expect(response.status, response.text).to.equal(201);
    const { id } = response.json as { id: number };
    const { match } = this.by;
    return { id, fields, key: { [match]: this.isById ? id : fields[match] } };
  }

  /** Imports lines after a dry run of them. */
  send(lines: readonly unknown[], query = ''): Promise<ResultLine[]> {
    const target = `${this.path}?match=${this.by.match}${query}`;
    return rehearsedImport(this.client, { target, body: ndjson(lines) });
  }

  async kept(id: number) {
    const path = `/v1/${this.by.plural}/${id}?fields=id,version,createdAt,updatedAt`;
    return (await this.client.get(path)).json;
  }

  async countAll(): Promise<number> {
    const headers = { Prefer: 'count=exact' };
    const response = await this.client.get(`/v1/${this.by.plural}?limit=1`, { headers });
    return Number(response.headers['x-total-count']);
  }
}

const unchanged = (line: number, id: number, version: number) => ({ line, status: 200, id, version, unchanged: true });

/** `tests/cases/keyed-imports` compares what lines do with single requests. */
for (const by of [PRODUCTS_BY_ID, PRODUCTS_BY_SKU, USERS_BY_EMAIL, ORDERS_BY_ID])
  describe(`an import of ${by.plural} with match=${by.match}`, () => {
    const service = inProcessService({ STORE: 'sqlite' });
    if (by.plural === 'orders') before(() => createReferences(service.client));
    describeMatching(new Imports(by, service));
  });

async function createReferences(client: HttpClient): Promise<void> {
  await client.post('/v1/users', { name: 'Ann', email: 'ann@example.com' });
  for (let i = 0; i < 2; i++) await client.post('/v1/products', { name: 'Lamp' });
}

function describeMatching(at: Imports): void {
  const { match, plural, noKeys } = at.by;

  it('needs a key that a record can have in each line', async () => {
    const { [match]: _key, ...rest } = at.newFields();
    const [missing] = await at.send([rest]);
    expect(outcomes([missing])).to.deep.equal([[400, 'validation_failed', `required /${match}`]]);
    expect(Object.keys(missing)).to.deep.equal(['line', 'status', 'error']);
    const wrong = noKeys.flatMap(([value, code]) => [
      { line: { ...rest, [match]: value }, code },
      { line: { [match]: value, deleted: true }, code },
    ]);
    expect(outcomes(await at.send(wrong.map(({ line }) => line)))).to.deep.equal(
      wrong.map(({ code }) => [400, 'validation_failed', `${code} /${match}`]),
    );
  });

  it('takes the id and the times of the record, and refuses others', async () => {
    const { id, key } = await at.create();
    const { createdAt, updatedAt } = await at.kept(id);
    expect(await at.send([{ ...key, id, createdAt, updatedAt }])).to.deep.equal([unchanged(1, id, 1)]);
    expect(await at.send([{ createdAt: null, updatedAt: null, ...key }])).to.deep.equal([unchanged(1, id, 1)]);
    const others: Fields = {
      ...(at.isById ? {} : { id: id + 1 }),
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: 5,
    };
    const issues = Object.keys(others).map((name) => `read_only_field /${name}`);
    for (const query of ['', '&existing=replace', '&existing=skip']) {
      const line = { ...at.newFields(), ...key, ...others };
      expect(outcomes(await at.send([line], query))).to.deep.equal([[400, 'validation_failed', ...issues]]);
    }
    if (at.isById) return;
    expect(await at.send([{ ...key, id: null }])).to.deep.equal([unchanged(1, id, 1)]);
    for (const wrong of [id, id + 1, String(id), 0, 1.5, {}, true]) {
      const lines = [
        ...(wrong === id ? [] : [{ ...key, id: wrong }]),
        { ...at.newFields(), id: wrong },
        { ...at.newFields(), id: wrong, createdAt },
      ];
      for (const [n, outcome] of outcomes(await at.send(lines)).entries())
        expect(outcome, `${JSON.stringify(wrong)} ${n}`).to.include('read_only_field /id');
    }
  });

  it('takes no Idempotency-Key: to repeat it is harmless', async () => {
    const fields = at.newFields();
    for (const query of [`match=${match}`, 'dryRun=true', `match=${match}&dryRun=true`]) {
      const headers = { ...NDJSON, 'Idempotency-Key': '"match-0001"' };
      const response = await expectIssues(
        at.client.post(`${at.path}?${query}`, ndjson([fields]), { headers }),
        'invalid_idempotency_key',
        ['invalid_format Idempotency-Key'],
      );
      expect(response.json.message).to.include(query.startsWith('match') ? 'match' : 'dryRun');
    }
    const headers = { ...NDJSON, 'Idempotency-Key': '"match-0002"' };
    for (const replayed of [undefined, true]) {
      const response = await at.client.post(`${at.path}?dryRun=false`, ndjson([fields]), { headers });
      const [{ status, replayed: isReplay }] = resultsOf(response) as [ResultLine];
      expect([status, isReplay]).to.deep.equal([201, replayed]);
    }
  });

  it('checks its parameters before it reads a line', async () => {
    const unique = match === 'id' ? (plural === 'products' ? 'sku' : undefined) : match;
    const others = ['name', 'sku', 'email', 'ID', 'Sku', 'version'].filter((name) => name !== unique);
    const before = await at.countAll();
    for (const [query, ...issues] of [
      ...['', ...others].map((name) => [`match=${name}`, 'invalid_format match'] as const),
      ...['', 'Merge', 'update', 'merge,skip'].map(
        (value) => [`match=${match}&existing=${value}`, 'invalid_format existing'] as const,
      ),
      ...['', '1', 'True', 'yes'].map((value) => [`dryRun=${value}`, 'invalid_format dryRun'] as const),
      ['existing=merge', 'required existing'],
      ['existing=merge&dryRun=true', 'required existing'],
      [`match=${match}&match=${match}`, 'duplicate_value match'],
      [`match=${match}&existing=merge&existing=merge`, 'duplicate_value existing'],
      ['dryRun=true&dryRun=true', 'duplicate_value dryRun'],
      [`match[]=${match}`, 'unknown_parameter match[]'],
      [`match=${match}&fields=id`, 'unknown_parameter fields'],
      ['Match=id', 'unknown_parameter Match'],
      ['match=%FF&dryRun=x', 'invalid_format match', 'invalid_format dryRun'],
    ] as const) {
      const response = await at.client.post(`${at.path}?${query}`, ndjson([at.newFields()]), { headers: NDJSON });
      const code = issues[0]?.startsWith('unknown_parameter') ? 'unknown_parameter' : 'invalid_parameter';
      await expectIssues(response, code, issues, query);
    }
    expect(await at.countAll()).to.equal(before);
    for (const [query, status] of [
      [`match=${match}&existing=skip&dryRun=true`, 204],
      ['limit=1', 400],
    ])
      expect((await at.client.request('OPTIONS', `${at.path}?${query}`)).status).to.equal(status);
  });

  it('may be empty', async () => {
    expect(await at.send([])).to.deep.equal([]);
    expect(await at.send(['', '  '])).to.deep.equal([]);
  });
}
