import { expect } from 'chai';
import type { StoreName } from '#src/composition/stores/index.js';
import { type HttpClient, issueLocations } from '../support/http-client.js';
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
  /** Another value of the first field, different for each number. */
  changed(n: number): Fields;
  /** Values that no record can have in the field, with the code of their issue. */
  readonly noKeys: readonly (readonly [value: unknown, code: string])[];
}

const WRONG_IDS = [
  ['1', 'invalid_type'],
  [true, 'invalid_type'],
  [[], 'invalid_type'],
  [{}, 'invalid_type'],
  [1.5, 'invalid_type'],
  [0, 'out_of_range'],
  [-1, 'out_of_range'],
] as const;

const WRONG_TEXTS = [
  [5, 'invalid_type'],
  [true, 'invalid_type'],
  [[], 'invalid_type'],
  [{}, 'invalid_type'],
  ['', 'too_short'],
  ['a b', 'invalid_format'],
  ['é', 'invalid_format'],
] as const;

const product = (n: number) => ({ name: `product ${n}`, sku: `S-${n}` });
const user = (n: number) => ({ name: `user ${n}`, email: `User.${n}@Example.com` });

export const PRODUCTS_BY_SKU: Matched = {
  plural: 'products',
  match: 'sku',
  fields: product,
  changed: (n) => ({ name: `changed ${n}` }),
  noKeys: [...WRONG_TEXTS, ['x'.repeat(65), 'too_long']],
};
export const PRODUCTS_BY_ID: Matched = { ...PRODUCTS_BY_SKU, match: 'id', noKeys: WRONG_IDS };
export const USERS_BY_EMAIL: Matched = {
  plural: 'users',
  match: 'email',
  fields: user,
  changed: (n) => ({ name: `changed ${n}` }),
  noKeys: [...WRONG_TEXTS, ['nobody', 'invalid_format']],
};
export const ORDERS_BY_ID: Matched = {
  plural: 'orders',
  match: 'id',
  fields: (n) => ({ items: [{ productId: 1, quantity: n }], userId: 1 }),
  changed: (n) => ({ items: [{ productId: 2, quantity: n }] }),
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

  changed = () => this.by.changed(++this.count);

  async create(fields = this.newFields()) {
    const response = await this.client.post(`/v1/${this.by.plural}`, fields);
    expect(response.status, response.text).to.equal(201);
    const { id } = response.json as { id: number };
    const { match } = this.by;
    return { id, fields, key: { [match]: this.isById ? id : fields[match] } };
  }

  /** A key that no record has. */
  absentKey(): Fields {
    const { match } = this.by;
    return { [match]: this.isById ? Number.MAX_SAFE_INTEGER - ++this.count : this.newFields()[match] };
  }

  /** Imports lines after a dry run of them. */
  send(lines: readonly unknown[], query = ''): Promise<ResultLine[]> {
    const target = `${this.path}?match=${this.by.match}${query}`;
    return rehearsedImport(this.client, { target, body: ndjson(lines) });
  }

  async read(id: number) {
    const { status, json } = await this.client.get(`/v1/${this.by.plural}/${id}`);
    const { id: _id, ...fields } = json;
    return status === 200 ? fields : status;
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

const NOT_FOUND = { code: 'not_found', message: 'Not found.', details: [] };
const FAILED = {
  code: 'precondition_failed',
  message: 'The record is no longer the version that the request names.',
  details: [],
};
const changed = (line: number, id: number, version: number) => ({ line, status: 200, id, version });
const unchanged = (line: number, id: number, version: number) => ({
  ...changed(line, id, version),
  unchanged: true,
});
const failed = (line: number, id: number, version: number) => ({
  line,
  status: 412,
  id,
  version,
  error: FAILED,
});
const deleted = (line: number) => ({ line, status: 204 });
const absent = (line: number) => ({ line, status: 204, unchanged: true });

/** Tests imports that match the records of a resource by a field. */
export function importMatchContract(store: StoreName, by: Matched): void {
  describe(`an import of ${by.plural} with match=${by.match} on ${store}`, () => {
    const service = inProcessService({ STORE: store });
    if (by.plural === 'orders') before(() => createReferences(service.client));
    describeMatching(new Imports(by, service));
  });
}

async function createReferences(client: HttpClient): Promise<void> {
  await client.post('/v1/users', { name: 'Ann', email: 'ann@example.com' });
  for (let i = 0; i < 2; i++) await client.post('/v1/products', { name: 'Lamp' });
}

function describeMatching(at: Imports): void {
  const { match, plural, noKeys } = at.by;
  const [required = ''] = Object.keys(at.by.fields(0));

  it('needs the key in each line, and reports it beside what else is wrong', async () => {
    const fields = at.newFields();
    const { [match]: _key, ...rest } = fields;
    for (const key of [{}, { [match]: null }]) {
      const results = await at.send([
        { ...rest, ...key },
        { ...rest, ...key, deleted: true },
      ]);
      expect(outcomes(results)).to.deep.equal(
        Array(2).fill([400, 'validation_failed', `required /${match}`]),
      );
      expect(Object.keys(results[0])).to.deep.equal(['line', 'status', 'error']);
      const several = { ...rest, ...key, [required]: 5, version: 'x', deleted: 1, x: 1 };
      const [result] = await at.send([several]);
      expect(outcomes([result])[0]).to.have.members([
        400,
        'validation_failed',
        `required /${match}`,
        'invalid_type /version',
        'invalid_type /deleted',
        `invalid_type /${required}`,
        'unknown_field /x',
      ]);
    }
    const wrong = noKeys.flatMap(([value, code]) => [
      { line: { ...rest, [match]: value }, code },
      { line: { [match]: value, deleted: true }, code },
    ]);
    expect(outcomes(await at.send(wrong.map(({ line }) => line)))).to.deep.equal(
      wrong.map(({ code }) => [400, 'validation_failed', `${code} /${match}`]),
    );
  });

  it('refuses a line that is no object, and goes on', async () => {
    const { id, key } = await at.create();
    const bad = ['{"a"', '[]', '"x"', 'null', '5', '{"a":1,"a":2}', '{"__proto__":1}', '\ufeff{}'];
    const lines = bad.flatMap((line) => [line, { ...key, ...at.changed() }]);
    const results = await at.send(lines);
    for (const [n, line] of bad.entries()) {
      const [, alike] = resultsOf(await at.client.post(at.path, ndjson([{}, line]), { headers: NDJSON }));
      expect(results[2 * n], line).to.deep.equal({ ...alike, line: 2 * n + 1 });
      expect(results[2 * n + 1]).to.deep.equal(changed(2 * n + 2, id, n + 2));
    }
  });

  it('merges by default: it changes what a line mentions', async () => {
    for (const query of ['', '&existing=merge']) {
      const { id, key, fields } = await at.create();
      const change = at.changed();
      expect(await at.send([{ ...key, ...change }], query)).to.deep.equal([changed(1, id, 2)]);
      expect(await at.read(id)).to.deep.equal({ ...fields, ...change });
    }
  });

  it('replaces the whole record with existing=replace', async () => {
    const { id, key, fields } = await at.create();
    const [other, { [match]: _key = undefined, ...rest }] = [at.changed(), fields];
    expect(await at.send([{ ...key, ...rest, ...other }], '&existing=replace')).to.deep.equal([
      changed(1, id, 2),
    ]);
    expect(await at.read(id)).to.deep.equal({ ...fields, ...other });
    const lacking = { ...rest, ...key };
    delete (lacking as Record<string, unknown>)[required];
    expect(outcomes(await at.send([lacking], '&existing=replace'))).to.deep.equal([
      [400, 'validation_failed', `required /${required}`],
    ]);
  });

  it('leaves a record as it is with existing=skip, whatever else the line says', async () => {
    const { id, key, fields } = await at.create();
    const lines = [
      key,
      { ...key, ...at.changed() },
      { ...key, [required]: null, x: 1 },
      { ...key, version: 1 },
    ];
    expect(await at.send([...lines, { ...key, version: 2 }], '&existing=skip')).to.deep.equal([
      ...lines.map((_, n) => unchanged(n + 1, id, 1)),
      failed(5, id, 1),
    ]);
    expect(await at.read(id)).to.deep.equal(fields);
  });

  it('changes neither version nor time if a line says what is stored', async () => {
    const { id, key, fields } = await at.create();
    const before = await at.kept(id);
    at.service.clock.pass(5_000);
    const { [match]: _key, ...rest } = fields;
    const reordered = Object.fromEntries(Object.entries({ ...key, ...rest }).reverse());
    for (const query of ['', '&existing=replace', '&existing=skip']) {
      const lines = [{ ...key, ...fields }, reordered, { ...key, ...fields, ...before }];
      expect(await at.send(lines, query), query).to.deep.equal(lines.map((_, n) => unchanged(n + 1, id, 1)));
    }
    expect(await at.send([key, { ...key, version: 1 }])).to.deep.equal([
      unchanged(1, id, 1),
      unchanged(2, id, 1),
    ]);
    expect(await at.kept(id)).to.deep.equal(before);
  });

  if (at.isById)
    it('creates no record: an id is given by the service', async () => {
      for (const query of ['', '&existing=replace', '&existing=skip']) {
        const results = await at.send([{ ...at.absentKey(), ...at.newFields() }, at.absentKey()], query);
        expect(results).to.deep.equal([1, 2].map((line) => ({ line, status: 404, error: NOT_FOUND })));
      }
    });
  else
    it('creates a record where none has the key', async () => {
      for (const query of ['', '&existing=replace', '&existing=skip']) {
        const fields = at.newFields();
        const nothing = Object.fromEntries(
          ['id', 'version', 'createdAt', 'deleted'].map((name) => [name, null]),
        );
        const [result, ...others] = await at.send([{ ...fields, ...nothing }], query);
        expect(others).to.deep.equal([]);
        expect(result).to.deep.equal({ line: 1, status: 201, id: result.id, version: 1 });
        expect(await at.read(result.id)).to.deep.equal(fields);
        const key = { [match]: at.newFields()[match] };
        const [invalid] = await at.send([key], query);
        expect(outcomes([invalid])).to.deep.equal([[400, 'validation_failed', `required /${required}`]]);
      }
    });

  it('takes version as a precondition', async () => {
    const { id, key, fields } = await at.create();
    const one = at.changed();
    const lines = [
      { ...key, ...one, version: 2 },
      { ...key, ...one, version: 1 },
      { ...key, ...one, version: 1 },
      { ...key, version: 1, x: 1 },
      { ...key, version: 2 },
      { ...key, version: Number.MAX_SAFE_INTEGER },
      { ...key, version: null },
    ];
    expect(await at.send(lines)).to.deep.equal([
      failed(1, id, 1),
      changed(2, id, 2),
      failed(3, id, 2),
      failed(4, id, 2),
      unchanged(5, id, 2),
      failed(6, id, 2),
      unchanged(7, id, 2),
    ]);
    expect(await at.read(id)).to.deep.equal({ ...fields, ...one });
    for (const query of ['', '&existing=replace', '&existing=skip'])
      expect(await at.send([{ ...at.newFields(), ...at.absentKey(), version: 1 }], query)).to.deep.equal([
        { line: 1, status: 404, error: NOT_FOUND },
      ]);
  });

  it('refuses a version that is none, wherever the record is', async () => {
    const { key } = await at.create();
    const wrong = ['1', '', true, [], {}, 1.5, 0, -1].flatMap((version) => [
      { ...key, version },
      { ...at.newFields(), ...at.absentKey(), version },
    ]);
    expect(outcomes(await at.send(wrong))).to.deep.equal(
      wrong.map(({ version }) => [
        400,
        'validation_failed',
        `${version === 0 || version === -1 ? 'out_of_range' : 'invalid_type'} /version`,
      ]),
    );
  });

  it('takes the id and the times of the record, and refuses others', async () => {
    const { id, key } = await at.create();
    const { createdAt, updatedAt } = await at.kept(id);
    expect(await at.send([{ ...key, id, createdAt, updatedAt }])).to.deep.equal([unchanged(1, id, 1)]);
    expect(await at.send([{ createdAt: null, updatedAt: null, ...key }])).to.deep.equal([
      unchanged(1, id, 1),
    ]);
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

  it('deletes with deleted: true, and nothing else of the line counts but its version', async () => {
    for (const query of ['', '&existing=replace', '&existing=skip']) {
      const [one, two, three] = [await at.create(), await at.create(), await at.create()];
      const junk = {
        [required]: 5,
        nonsense: [],
        ...(at.isById ? {} : { id: one.id + 1_000 }),
        createdAt: 1,
      };
      const lines = [
        { ...one.key, deleted: true },
        { ...one.key, deleted: true, version: 1 },
        { ...two.key, version: 2, deleted: true },
        { ...two.key, version: 'x', deleted: true },
        { ...two.key, ...junk, version: 1, deleted: true },
        { ...two.key, ...junk, deleted: true },
        { ...two.key, version: 'x', deleted: true },
        { ...at.absentKey(), deleted: true },
        { ...three.fields, ...three.key, deleted: false },
        { ...three.fields, ...three.key, deleted: null, version: null },
      ];
      expect(await at.send(lines, query)).to.deep.equal([
        deleted(1),
        absent(2),
        failed(3, two.id, 1),
        failed(4, two.id, 1),
        deleted(5),
        absent(6),
        absent(7),
        absent(8),
        unchanged(9, three.id, 1),
        unchanged(10, three.id, 1),
      ]);
      expect([await at.read(one.id), await at.read(two.id)]).to.deep.equal([404, 404]);
      const wrong = ['true', 'false', '', 1, 0, [], {}].map((value) => ({ ...three.key, deleted: value }));
      expect(outcomes(await at.send(wrong, query))).to.deep.equal(
        wrong.map(() => [400, 'validation_failed', 'invalid_type /deleted']),
      );
    }
  });

  it('acts in the order of the lines, also those of one key', async () => {
    const fields = at.newFields();
    const first = at.isById ? (await at.create(fields)).id : undefined;
    const key = { [match]: first ?? fields[match] };
    const [one, two] = [at.changed(), at.changed()];
    const results = await at.send([
      ...(first === undefined ? [{ ...fields }] : [key]),
      { ...key, ...one, version: 1 },
      { ...key, ...two, version: 1 },
      { ...key, ...two, version: 2 },
      { ...key, deleted: true, version: 2 },
      { ...key, deleted: true, version: 3 },
      { ...key, ...one, version: 3 },
      { ...fields, ...key },
      { ...key, ...two },
      { ...key, deleted: true },
      { ...key, deleted: true },
    ]);
    const id = first ?? results[0].id;
    expect(results.slice(0, 7)).to.deep.equal([
      first === undefined ? { line: 1, status: 201, id, version: 1 } : unchanged(1, id, 1),
      changed(2, id, 2),
      failed(3, id, 2),
      changed(4, id, 3),
      failed(5, id, 3),
      deleted(6),
      { line: 7, status: 404, error: NOT_FOUND },
    ]);
    const again = results[7].id;
    expect(results.slice(7)).to.deep.equal(
      at.isById
        ? [...[8, 9].map((line) => ({ line, status: 404, error: NOT_FOUND })), absent(10), absent(11)]
        : [{ line: 8, status: 201, id: again, version: 1 }, changed(9, again, 2), deleted(10), absent(11)],
    );
    if (!at.isById) expect(again).to.be.greaterThan(id);
  });

  it('keeps the order beyond the lines of one batch', async () => {
    const [one, two] = [await at.create(), await at.create()];
    const lines = Array.from({ length: 300 }, (_, n) => {
      const { key } = n % 3 === 0 ? two : one;
      const before = n % 3 === 0 ? n / 3 : n - 1 - Math.floor(n / 3);
      return { ...key, ...at.changed(), version: before + 1 };
    });
    const results = await at.send(lines);
    expect(results).to.deep.equal(
      lines.map(({ version }, n) => changed(n + 1, n % 3 === 0 ? two.id : one.id, version + 1)),
    );
  });

  it('takes many records at once', async () => {
    const records: { readonly key: Fields }[] = [];
    for (let n = 0; n < 5; n++) records.push(await at.create());
    const lines = Array.from({ length: 300 }, (_, n) =>
      n % 60 === 7
        ? { ...records[(n - 7) / 60]?.key, ...at.changed() }
        : { ...at.newFields(), ...at.absentKey() },
    );
    const results = await at.send(lines);
    expect(results.map(({ status }) => status)).to.deep.equal(
      lines.map((_, n) => (n % 60 === 7 ? 200 : at.isById ? 404 : 201)),
    );
    const ids = results.flatMap(({ status, id }) => (status === 201 ? [id] : []));
    expect(ids).to.deep.equal(ids.toSorted((a, b) => a - b));
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('takes no Idempotency-Key: to repeat it is harmless', async () => {
    const fields = at.newFields();
    for (const query of [`match=${match}`, 'dryRun=true', `match=${match}&dryRun=true`]) {
      const headers = { ...NDJSON, 'Idempotency-Key': '"match-0001"' };
      const response = await at.client.post(`${at.path}?${query}`, ndjson([fields]), { headers });
      expect([response.status, response.json.code]).to.deep.equal([400, 'invalid_idempotency_key']);
      expect(issueLocations(response)).to.deep.equal([['invalid_format', 'Idempotency-Key']]);
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
      ...['', ...others].map((name) => [`match=${name}`, ['invalid_format', 'match']] as const),
      ...['', 'Merge', 'update', 'merge,skip'].map(
        (value) => [`match=${match}&existing=${value}`, ['invalid_format', 'existing']] as const,
      ),
      ...['', '1', 'True', 'yes'].map((value) => [`dryRun=${value}`, ['invalid_format', 'dryRun']] as const),
      ['existing=merge', ['required', 'existing']],
      ['existing=merge&dryRun=true', ['required', 'existing']],
      [`match=${match}&match=${match}`, ['duplicate_value', 'match']],
      [`match=${match}&existing=merge&existing=merge`, ['duplicate_value', 'existing']],
      ['dryRun=true&dryRun=true', ['duplicate_value', 'dryRun']],
      [`match[]=${match}`, ['unknown_parameter', 'match[]']],
      [`match=${match}&fields=id`, ['unknown_parameter', 'fields']],
      ['Match=id', ['unknown_parameter', 'Match']],
      ['match=%FF&dryRun=x', ['invalid_format', 'match'], ['invalid_format', 'dryRun']],
    ] as const) {
      const response = await at.client.post(`${at.path}?${query}`, ndjson([at.newFields()]), {
        headers: NDJSON,
      });
      const code = issues[0]?.[0] === 'unknown_parameter' ? 'unknown_parameter' : 'invalid_parameter';
      expect([response.status, response.json.code], query).to.deep.equal([400, code]);
      expect(issueLocations(response), query).to.deep.equal(issues);
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
