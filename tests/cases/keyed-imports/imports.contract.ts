import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { figuresOf } from '../../support/figure.js';
import type { HttpClient } from '../../support/http-client.js';
import { resultsOf } from '../../support/imports.js';
import { inProcessService } from '../../support/in-process-service.js';
import { TEST_SEED } from '../../support/run-settings.js';
import { SeededRandom } from '../../support/seeded-random.js';
import { type Json, type Line, type Mode, Model, type Resource, type Result, UNIQUE } from './model.js';
import { jsonLine, RandomCsvLines, RandomJsonLines } from './random-lines.js';

const figure = figuresOf('keyed-imports');

/** What lines of an import with `match` get. */
const STATUSES = [200, 201, 204, 400, 404, 409, 412];

/** More than the lines that the service handles at once. */
const MAX_LINES = 400;

/** More than this are all deleted, so that a stream takes no longer than the one before. */
const MANY_RECORDS = 150;

/**
 * Random imports do what a Map does: each line has the result that the model gives it, in a dry run and in the run after
 * it, and the records are then those of the model.
 * @param settings of the service; `REQUIRE_IF_MATCH` too
 * @param streams how many imports, of each resource
 */
export function randomImports(settings: Record<string, string>, streams: number): void {
  const { STORE: store = '', REQUIRE_IF_MATCH = 'false' } = settings;
  describe(`random imports in ${store}, with REQUIRE_IF_MATCH=${REQUIRE_IF_MATCH}`, function () {
    this.timeout(3_600_000);
    const service = inProcessService(settings);

    for (const resource of ['products', 'users'] as const)
      it(`of ${resource} do line by line what the model does, and a dry run foretells it`, async () => {
        const random = new SeededRandom(TEST_SEED);
        const imports = new RandomImports(service.client, resource, random, REQUIRE_IF_MATCH === 'true');
        for (let at = 1; at <= streams; at++) await imports.run(at);
        figure(`lines of ${resource} in ${store}`, imports.lines);
        expect([...imports.statuses].toSorted()).to.include.members(STATUSES);
      });
  });
}

class RandomImports {
  lines = 0;
  readonly statuses = new Set<number>();
  private readonly model: Model;
  private newestId = 0;
  private state = new Map<number, Json>();

  constructor(
    private readonly client: HttpClient,
    private readonly resource: Resource,
    private readonly random: SeededRandom,
    needsVersion: boolean,
  ) {
    this.model = new Model(resource, needsVersion);
  }

  async run(number: number): Promise<void> {
    const { random, resource, model } = this;
    const match = random.chance(0.2) ? undefined : random.oneOf(['id', UNIQUE[resource].field] as const);
    const existing = random.oneOf(['merge', 'merge', 'replace', 'skip'] as const);
    const mode: Mode = { resource, ...(match && { match, existing }) };
    const ofCells: Mode = { ...mode, ...(match && random.chance(0.3) && { empty: 'clear' }) };
    const csv = random.chance(0.4) ? new RandomCsvLines(random, ofCells, model) : undefined;
    const source = csv ?? new RandomJsonLines(random, mode, model);
    const count = 1 + random.below(random.oneOf([10, MAX_LINES]));
    await this.check(`stream ${number}`, csv ? ofCells : mode, count, () => source.next(), csv?.header);
    if (model.records.size > MANY_RECORDS) await this.deleteAll(`deletions after stream ${number}`);
  }

  /** Records without a unique value become many. */
  private async deleteAll(what: string): Promise<void> {
    const lines = [...this.model.records].map(([id, { version }]) => jsonLine({ id, version, deleted: true }));
    const mode: Mode = { resource: this.resource, match: 'id' };
    await this.check(what, mode, lines.length, (at) => lines[at] as Line);
  }

  /** Sends lines in a dry run and in a run, and compares all results and records with those of the model. */
  private async check(
    name: string,
    mode: Mode,
    count: number,
    lineAt: (at: number) => Line,
    header?: readonly string[],
  ): Promise<void> {
    const lines: Line[] = [];
    const expected: Result[] = [];
    for (let at = 0; at < count; at++) {
      const line = lineAt(at);
      lines.push(line);
      expected.push(this.model.apply(line, mode));
    }
    const { match, existing, empty } = mode;
    const what = `${name} ${JSON.stringify(mode)} ${header ?? ''}`;
    const text = [...(header ? [header.join(',')] : []), ...lines.map((line) => line.text), ''].join('\n');
    const send = (more: Record<string, string>) => {
      const how = { ...(match && { match }), ...(existing && { existing }), ...(empty && { empty }) };
      const query = new URLSearchParams({ ...how, ...more });
      return this.send(`?${query}`, header ? 'text/csv' : 'application/x-ndjson', text);
    };
    const foretold = await send({ dryRun: 'true' });
    this.expectSame(`dry run of ${what}`, lines, foretold, expected.map(rehearsed));
    expect(await this.read(), `records after the dry run of ${what}`).to.deep.equal(this.state);
    const results = await send({});
    this.learnIds(expected, results);
    const named = expected.map((result) => this.named(result));
    this.expectSame(what, lines, results, named);
    await this.expectState(what);
    for (const { status } of expected) this.statuses.add(status);
    this.lines += count;
  }

  /** The ids that the service gave to the new records, by those of the model. */
  private ids = new Map<number, number>();

  private learnIds(expected: readonly Result[], results: readonly Json[]): void {
    this.ids = new Map();
    for (const [at, { status, id = 0 }] of expected.entries()) {
      const given = results[at]?.id;
      if (status !== 201 || !Number.isInteger(given)) continue;
      expect(given, 'the id of a new record').to.be.greaterThan(this.newestId);
      this.newestId = given;
      this.ids.set(id, given);
      this.model.rename(id, given);
    }
  }

  private named({ id, owner, ...rest }: Result): Result {
    const known = (one: number) => this.ids.get(one) ?? one;
    return {
      ...rest,
      ...(id !== undefined && { id: known(id) }),
      ...(owner !== undefined && { owner: known(owner) }),
    };
  }

  private async send(query: string, type: string, text: string): Promise<Json[]> {
    const headers = { 'Content-Type': type };
    return resultsOf(await this.client.post(`/v1/${this.resource}/imports${query}`, text, { headers }));
  }

  private expectSame(what: string, lines: readonly Line[], results: readonly Json[], expected: readonly Result[]) {
    for (const [at, wanted] of expected.entries()) {
      const got = results[at];
      if (isDeepStrictEqual(got && comparable(got), { line: at + 1, ...wanted })) continue;
      throw new Error(
        `${what}\nline ${at + 1}: ${lines[at]?.text}\ngot ${JSON.stringify(got)}\ninstead of ${JSON.stringify(wanted)}`,
      );
    }
    expect(results, what).to.have.length(expected.length);
  }

  private async read(): Promise<Map<number, Json>> {
    const names = this.resource === 'products' ? 'name,description,sku,price,attributes' : 'name,email';
    const path = `/v1/${this.resource}?fields=id,version,createdAt,updatedAt,${names}`;
    const records = resultsOf(await this.client.get(path, { headers: { Accept: 'application/x-ndjson' } }));
    return new Map(records.map((record) => [record.id, record]));
  }

  /** The records are those of the model, and one whose version is as before is otherwise as before too. */
  private async expectState(what: string): Promise<void> {
    const now = await this.read();
    const shown = [...now].map(([id, { id: _id, version, createdAt: _created, updatedAt: _updated, ...fields }]) => [
      id,
      { version, fields },
    ]);
    const wanted = [...this.model.records].toSorted(([one], [other]) => one - other);
    expect(shown, `records after ${what}`).to.deep.equal(wanted);
    for (const [id, record] of now) {
      const before = this.state.get(id);
      if (before?.version === record.version) expect(record, `record ${id} after ${what}`).to.deep.equal(before);
      else if (before) expect(record.createdAt, `record ${id} after ${what}`).to.equal(before.createdAt);
    }
    this.state = now;
  }
}

/** A new record of a dry run has no id that anybody can know. */
function rehearsed({ id, owner, ...rest }: Result): Result {
  return {
    ...rest,
    ...(id !== undefined && id > 0 && { id }),
    ...(owner !== undefined && owner > 0 && { owner }),
  };
}

/** A result without messages, with the issues of its error in the order of their codes. */
function comparable({ error, ...rest }: Json): Json {
  if (!error) return rest;
  const { code, details } = error as {
    code: string;
    details: { code: string; pointer?: string; id?: number }[];
  };
  const issues = details.map((one) => [one.code, one.pointer]).toSorted();
  const owner = details.find(({ id }) => id !== undefined)?.id;
  return { ...rest, error: [code, ...issues], ...(owner !== undefined && { owner }) };
}
