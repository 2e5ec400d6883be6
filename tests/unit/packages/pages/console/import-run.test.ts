import { expect } from 'chai';
import fc from 'fast-check';
import { CatalogueError, type ImportResult } from '#packages/client/index.js';
import { formatOfFile, partsOf } from '#packages/pages/console/transfer/files.js';
import { ImportRun, type Send } from '#packages/pages/console/transfer/import-run.js';
import { CsvSplitter, cellsOf, NdjsonSplitter } from '#src/shared/record-splitters.js';
import { API_CSV, plainRows } from './product-fields.js';

const file = (text: string | Uint8Array<ArrayBuffer>, name = 'products.csv') =>
  new File([text], name, { type: 'text/plain' });

/** The records of each part of a file, as texts, without the header row of CSV. */
async function textsOf(
  text: string,
  format: 'csv' | 'ndjson',
  bytes = 1_000_000,
  records = 5_000,
): Promise<string[][]> {
  const parts: string[][] = [];
  for await (const part of partsOf(file(text), format === 'csv' ? API_CSV : undefined, { bytes, records }))
    parts.push(part.records.map((record) => Buffer.from(record as Uint8Array).toString()));
  return parts;
}

describe('the records of a file', () => {
  for (const [name, format, text, records] of [
    ['lines', 'ndjson', '{"a":1}\n{"b":2}\n', ['{"a":1}', '{"b":2}']],
    ['a last line without its end', 'ndjson', '{"a":1}\n{"b":2}', ['{"a":1}', '{"b":2}']],
    ['no blank lines', 'ndjson', '\n{"a":1}\n \t\r\n\n{"b":2}\n', ['{"a":1}', '{"b":2}']],
    ['lines behind a byte order mark', 'ndjson', '\ufeff\n{"a":1}', ['{"a":1}']],
    ['carriage returns, which JSON ignores', 'ndjson', '{}\r\n{}\r\n', ['{}\r', '{}\r']],
    ['rows', 'csv', 'name,sku\na,1\nb,2\n', ['name,sku', 'a,1', 'b,2']],
    ['rows with CRLF', 'csv', 'name\r\na\r\nb', ['name', 'a', 'b']],
    ['no blank rows', 'csv', 'name\n\na\r\n\r\n\nb\n\n', ['name', 'a', 'b']],
    ['no rows of empty cells', 'csv', 'name,sku\n,,\r\n,\na,\n,', ['name,sku', 'a,']],
    ['no line that names the separator', 'csv', '\ufeffsep=;\r\nname\nsep=;\n', ['name', 'sep=;']],
    ['quoted line ends', 'csv', 'name\n"a\nb","c\r\n\r\n"\nd', ['name', '"a\nb","c\r\n\r\n"', 'd']],
    ['doubled quotes', 'csv', 'name\n"a""\n""",x\nb', ['name', '"a""\n""",x', 'b']],
    ['a quote inside a cell, which opens nothing', 'csv', 'name\n5" pipe\nb', ['name', '5" pipe', 'b']],
    ['a quote that is not closed', 'csv', 'name\n"a\nb\nc', ['name', '"a\nb\nc']],
    ['a byte order mark and a quoted header', 'csv', '\ufeff"na\nme"\na', ['\ufeff"na\nme"', 'a']],
    ['an empty file', 'csv', '', []],
    ['empty text in quotes', 'csv', 'name\n""\n', ['name', '""']],
  ] as const)
    it(`are found: ${name} (${format})`, async () => {
      expect((await textsOf(text, format)).flat()).to.deep.equal(format === 'csv' ? records.slice(1) : records);
    });

  it('are joined to parts that end with a record', async () => {
    expect(await textsOf('aaaa\nbbbb\ncccc\nd\n', 'ndjson', 10)).to.deep.equal([
      ['aaaa', 'bbbb'],
      ['cccc', 'd'],
    ]);
    expect(await textsOf('a\nb\nc\n', 'ndjson', 1_000, 2)).to.deep.equal([['a', 'b'], ['c']]);
    expect(await textsOf(`${'x'.repeat(300_000)}\ny`, 'ndjson', 10)).to.deep.equal([['x'.repeat(300_000)], ['y']]);
  });

  it('are those that the service finds', async () => {
    const pieces = fc.array(fc.constantFrom('a', '"', '\n', '\r', ',', 'é', '"x\ny"', ' ', '\t'), {
      maxLength: 20,
    });
    const heads = fc.constantFrom('', '\ufeff', 'sep=;\n', '\ufeffsep=,\r\n', '\n');
    await fc.assert(
      fc.asyncProperty(heads, pieces, async (head, texts) => {
        const text = head + texts.join('');
        for (const [format, splitter] of [
          ['csv', new CsvSplitter(1_000)],
          ['ndjson', new NdjsonSplitter(1_000)],
        ] as const) {
          const found = [...splitter.push(Buffer.from(text)), ...splitter.end()].map((line) => {
            const record = 'bytes' in line ? Buffer.from(line.bytes).toString() : '';
            return format === 'csv' ? record.replace(/\r$/, '') : record;
          });
          const records = (await textsOf(text, format)).flat();
          expect(records).to.deep.equal(format === 'csv' ? found.slice(1) : found);
        }
      }),
      { numRuns: 500 },
    );
  });
});

/** An import of CSV as the API writes it. */
const csvRun = (content: string | Uint8Array<ArrayBuffer>, send: Send) =>
  new ImportRun(file(content), send, { key: 'k', rows: plainRows(/^.*/.exec(content.toString())?.[0] ?? '') });

const refusal = (code: string, message: string) => ({
  status: 400,
  error: { code, message: 'invalid', details: [{ code, message, in: 'body' as const, pointer: '/name' }] },
});

/** A service that refuses records with `bad` in them, and replays what it has created under a key. */
function service({ failAt = [] as readonly number[] } = {}) {
  const bodies: string[] = [];
  const known = new Set<string>();
  let calls = 0;
  const send: Send = async function* (body, { idempotencyKey, signal }) {
    const call = ++calls;
    const text = await body.text();
    bodies.push(text);
    const isCsv = text.startsWith('name');
    const lines = text
      .replace(/\n$/, '')
      .split('\n')
      .slice(isCsv ? 1 : 0);
    for (const [at, line] of lines.entries()) {
      signal.throwIfAborted();
      if (failAt.includes(call) && at === 1) throw new TypeError('network error');
      const key = `${idempotencyKey} ${at}`;
      const replayed = known.has(key);
      if (line.includes('bad')) yield { line: at + 1, ...refusal('invalid_type', 'No "good".') } as ImportResult;
      else {
        known.add(key);
        yield { line: at + 1, status: 201, id: at, ...(replayed && { replayed }) };
      }
    }
  };
  return { send, bodies, known };
}

const never = new AbortController().signal;

/** Carries a run out. */
async function done(run: ImportRun): Promise<ImportRun> {
  await run.run(never, () => {});
  return run;
}

const failureOf = (run: ImportRun) => run.run(never, () => {}).catch((error: unknown) => error);

const tooLong = () => new CatalogueError(413, 'unexpected_response', 'x', [], undefined);

describe('an import of a file', () => {
  const LINES = Array.from({ length: 12_000 }, (_, i) => (i % 6_000 === 17 ? `bad${i}` : `p${i}`));

  it('counts results by kind, part by part', async () => {
    const { send, bodies } = service();
    const run = new ImportRun(file(LINES.join('\n'), 'p.ndjson'), send, { key: 'k' });
    const seen: number[] = [];
    await run.run(never, (progress) => seen.push(progress.share));
    expect(bodies.map((body) => body.trimEnd().split('\n').length)).to.deep.equal([5_000, 5_000, 2_000]);
    expect(bodies.join('')).to.equal(`${LINES.join('\n')}\n`);
    const { created, earlier, refused, share } = run.progress;
    expect([created, earlier, [...refused]]).to.deep.equal([11_998, 0, [['invalid_type', 2]]]);
    expect([share, seen.at(-1), seen.length]).to.deep.equal([1, 1, 3]);
  });

  it('continues after a lost connection with the same part and key, and creates nothing twice', async () => {
    const { send, bodies, known } = service({ failAt: [2] });
    const run = new ImportRun(file(LINES.join('\n'), 'p.ndjson'), send, { key: 'k' });
    const failure = await failureOf(run);
    expect(failure).to.be.instanceOf(TypeError);
    expect(run.progress.created).to.equal(4_999);
    await done(run);
    expect(bodies[2]).to.equal(bodies[1]);
    const { created, earlier } = run.progress;
    expect([created + earlier, earlier, known.size]).to.deep.equal([11_998, 1, 11_998]);
  });

  it('sends at most 512 KiB at a time, header row and all, without what a spreadsheet leaves behind', async () => {
    const header = `name,${'x'.repeat(100_000)}`;
    const rows = Array.from({ length: 40 }, (_, at) => `p${at},${'y'.repeat(40_000)}`);
    const long = `long,${'z'.repeat(600_000)}`;
    const empty = ',\r\n'.repeat(200_000);
    for (const [format, text, expected] of [
      ['csv', [header, ...rows, long, 'last,1'].join('\r\n') + empty, 42],
      ['csv', [header, long, ...rows].join('\n'), 41],
      ['ndjson', `${[...rows, long, 'last'].join('\n')}\n${' \n'.repeat(300_000)}`, 42],
    ] as const) {
      const { send, bodies } = service();
      const run = await done(
        new ImportRun(file(text), send, { key: 'k', rows: format === 'csv' ? plainRows(header) : undefined }),
      );
      expect(run.progress.created).to.equal(expected);
      const sizes = bodies.filter((body) => !body.includes('long')).map(({ length }) => length);
      expect(Math.max(...sizes)).to.be.within(400_000, 524_288);
      expect(bodies.filter((body) => body.includes('long')).map((body) => body.includes('p'))).to.deep.equal([false]);
    }
  });

  it('halves a part that a proxy refuses as too long, and what follows, down to one record', async () => {
    for (const format of ['csv', 'ndjson'] as const) {
      const { send, bodies } = service();
      let refused = 0;
      const limited: Send = async function* (body, options) {
        if (body.size > 3_000 && ++refused) throw tooLong();
        yield* send(body, options);
      };
      const lines = Array.from({ length: 1_000 }, (_, at) => (at % 100 === 9 ? `bad${at}` : `p${at}`));
      const text = [...(format === 'csv' ? ['name'] : []), ...lines].join('\n');
      const run = await done(
        new ImportRun(file(text), limited, {
          key: 'k',
          rows: format === 'csv' ? plainRows('name') : undefined,
          limits: { bytes: 5_000, records: 5_000 },
        }),
      );
      const { created, refused: found } = run.progress;
      expect([created, [...found]]).to.deep.equal([990, [['invalid_type', 10]]]);
      expect(run.findings.refused.map(({ number }) => number)).to.deep.equal(
        Array.from({ length: 10 }, (_, at) => 100 * at + 10),
      );
      expect(refused, 'no later part is refused').to.equal(1);
      const sent = bodies.flatMap((body) => body.trimEnd().split('\n')).filter((line) => line !== 'name');
      expect(sent).to.deep.equal(lines);
    }
  });

  it('shows the error of one record that is too long, and continues with it', async () => {
    const { send } = service();
    const run = new ImportRun(file(`a\nb\n${'c'.repeat(50)}\nd`), async function* (body, options) {
      if (body.size > 10) throw tooLong();
      yield* send(body, options);
    });
    for (let attempt = 0; attempt < 2; attempt++) {
      const failure = await failureOf(run);
      expect(failure).to.include({ status: 413 });
      expect(run.progress.created).to.equal(2);
    }
  });

  it('stops when it is aborted, and continues later', async () => {
    const { send } = service();
    const run = new ImportRun(file(LINES.join('\n'), 'p.ndjson'), send, { key: 'k' });
    const controller = new AbortController();
    const stopped = await run
      .run(controller.signal, () => controller.abort(new Error('enough')))
      .catch((error: unknown) => error);
    expect(stopped).to.have.property('message', 'enough');
    await done(run);
    expect(run.progress.created).to.equal(11_998);
  });

  it('does not take a response that ends early for complete', async () => {
    const send: Send = async function* () {
      yield { line: 1, status: 201, id: 1 };
    };
    const run = new ImportRun(file('a\nb'), send, { key: 'k' });
    const failure = await failureOf(run);
    expect(failure).to.be.instanceOf(TypeError).with.property('message').that.includes('connection');
    expect(run.progress.created).to.equal(0);
  });

  it('sends the header row with each part of CSV', async () => {
    const { send, bodies } = service();
    const run = await done(csvRun(`name\r\n${LINES.join('\n')}`, send));
    for (const body of bodies) expect(body.startsWith('name\n')).to.equal(true);
    expect(run.progress.created).to.equal(11_998);
  });

  it('gives the refused records back, with their errors in a column', async () => {
    const { send } = service();
    const run = await done(csvRun('name,sku\na,1\n"bad ""x""",2\nb,3\nbad,\n', send));
    const refused = run.refusedFile;
    expect(refused.name).to.equal('products-failed.csv');
    expect(await refused.text()).to.equal(
      'name,sku,error\n"bad ""x""",2,"invalid_type: No ""good""."\nbad,,"invalid_type: No ""good""."\n',
    );
  });

  const refuseAll: Send = async function* (body) {
    const records = [];
    for await (const part of partsOf(body, API_CSV)) records.push(...part.records);
    for (const line of records.keys())
      yield { line: line + 1, ...refusal('malformed_csv', 'No.') } as unknown as ImportResult;
  };

  it('gives a record that is no CSV back behind its error, one cell too many for every header', async () => {
    const run = await done(csvRun('name,sku\na\na,b,c\n"a,1\nb', refuseAll));
    expect(await run.refusedFile.text()).to.equal(
      [
        'name,sku,error',
        ',,"malformed_csv: The record has 1 cell, and the header row has 2.",a',
        ',,"malformed_csv: The record has 3 cells, and the header row has 2.","a,b,c"',
        ',,"malformed_csv: Cell 1 of the record begins with a quotation mark that is not closed.","""a,1\nb"\n',
      ].join('\n'),
    );
  });

  it('gives a long record back unread, with one cell too many', async () => {
    const long = `"${'x'.repeat(1_100_000)}`;
    const run = await done(csvRun(`name\n${long}`, refuseAll));
    expect(await run.refusedFile.text()).to.match(/^name,error\n,"malformed_csv: Cell 1 .*",/);
    expect((await run.refusedFile.text()).endsWith(`",${long}\n`)).to.equal(true);
  });

  /** Whether a row looks like one that was given back before. */
  const isGivenBack = (row: string, columns: number) =>
    row.startsWith(','.repeat(columns)) && cellsOf(row)?.length === columns + 1;

  it('gives rows back with all their cells, of which none is a record by itself that was none before', async () => {
    const pieces = fc.array(fc.constantFrom('a', '"', '\n', '\r', ',', 'ü', '€', '"x\ny"'));
    await fc.assert(
      fc.asyncProperty(pieces, fc.constantFrom('name', 'name,"a,b"', 'name,sku,brand'), async (texts, header) => {
        const source = `${header}\n${texts.join('')}`;
        const run = await done(csvRun(source, refuseAll));
        const columns = cellsOf(header)?.length ?? 0;
        const rows = (await textsOf(source, 'csv')).flat();
        const refused = (await textsOf(await run.refusedFile.text(), 'csv')).flat();
        expect(refused).to.have.length(rows.length);
        for (const [at, row] of rows.entries()) {
          const cells = cellsOf(refused[at] ?? '') ?? [];
          const left = cells.filter((_, place) => place !== columns);
          if (cellsOf(row)?.length === columns || isGivenBack(row, columns)) expect(left).to.deep.equal(cellsOf(row));
          else expect(left).to.deep.equal([...Array(columns).fill(undefined), row]);
        }
      }),
    );
  });

  it('gives a record that is not UTF-8 back in the likeliest letters, and leaves older errors out', async () => {
    const source = Buffer.from('name,error,sku\nT\xf6pf\xe9,old,1\n', 'latin1') as Uint8Array<ArrayBuffer>;
    const run = await done(csvRun(source, refuseAll));
    const given = new Uint8Array(await run.refusedFile.arrayBuffer());
    expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(given)).to.equal(
      '\ufeffname,sku,error\nTöpfé,1,"malformed_csv: The record is not UTF-8. Choose another encoding above."\n',
    );
  });

  it('gives the refused lines back with their errors in a member, which another import leaves out', async () => {
    const { send, bodies } = service();
    const lines = ['{"name":"bad", "n":1.0 } ', '{"name":"a"}', '{}bad', '["bad"]', '{"bad":"\xfc"}', 'bad\xfc\t\\'];
    const bytes = Buffer.from(lines.join('\n'), 'latin1') as Uint8Array<ArrayBuffer>;
    const run = await done(new ImportRun(file(bytes, 'a.b.ndjson'), send, { key: 'k' }));
    const again = await done(new ImportRun(run.refusedFile, send, { key: 'k' }));
    expect(bodies.at(-1)?.split('\n')[0]).to.equal('{"name":"bad", "n":1.0}');
    expect(await again.refusedFile.text()).to.equal(await run.refusedFile.text());
    const { error } = refusal('invalid_type', 'No "good".');
    const refused = run.refusedFile;
    expect(refused.name).to.equal('a.b-failed.ndjson');
    const json = JSON.stringify(error);
    expect((await refused.text()).split('\n')).to.deep.equal([
      `{"name":"bad", "n":1.0,"error":${json}}`,
      `{"text":"{}bad","error":${json}}`,
      `{"text":"[\\"bad\\"]","error":${json}}`,
      `{"bad":"\xfc","error":${json}}`,
      `{"text":"bad\xfc\\t\\\\","error":${json}}`,
      '',
    ]);
  });
});

describe('an update from a file', () => {
  const conflict = {
    status: 412,
    id: 3,
    version: 9,
    error: { code: 'precondition_failed', message: 'x', details: [] },
  };
  const RESULTS = {
    new: { status: 201, id: 1, version: 1 },
    changed: { status: 200, id: 2, version: 7 },
    same: { status: 200, id: 2, version: 7, unchanged: true },
    deleted: { status: 204 },
    gone: { status: 204, unchanged: true },
    conflict,
    bad: refusal('invalid_type', 'No.'),
  };
  type Kind = keyof typeof RESULTS;
  /** A service that gives each line the result that the line names. */
  const sending = (options: object[] = []): Send =>
    async function* (body, { signal, ...rest }) {
      options.push(rest);
      const kinds = (await body.text()).trim().split('\n') as Kind[];
      for (const [at, kind] of kinds.entries()) yield { line: at + 1, ...RESULTS[kind] } as ImportResult;
    };
  const lines = (...kinds: Kind[]) => file(kinds.join('\n'), 'p.ndjson');

  it('counts what is new, changed, unchanged, deleted and refused, and sends no key', async () => {
    const options: object[] = [];
    const text = lines('new', 'changed', 'changed', 'same', 'deleted', 'gone', 'conflict', 'bad');
    const run = await done(new ImportRun(text, sending(options)));
    const { created, changed, unchanged, deleted, earlier, refused } = run.progress;
    expect({ created, changed, unchanged, deleted, earlier }).to.deep.equal({
      created: 1,
      changed: 2,
      unchanged: 2,
      deleted: 1,
      earlier: 0,
    });
    expect([...refused]).to.deep.equal([
      ['precondition_failed', 1],
      ['invalid_type', 1],
    ]);
    expect(options).to.deep.equal([{}]);
  });

  it('keeps the first ten records of each kind, with their numbers in the file', async () => {
    const kinds = Array.from(
      { length: 60 },
      (_, at): Kind => (['new', 'changed', 'bad', 'deleted'] as const)[at % 4] ?? 'same',
    );
    const run = await done(new ImportRun(lines(...kinds), sending(), { limits: { bytes: 1_000, records: 7 } }));
    const { created, changed, conflicts, refused } = run.findings;
    expect(created.map(({ number }) => number)).to.deep.equal([1, 5, 9, 13, 17, 21, 25, 29, 33, 37]);
    expect(changed.map(({ number }) => number)).to.deep.equal([2, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
    expect(changed.slice(0, 2).map(({ record }) => record)).to.deep.equal([
      { text: 'changed', columns: undefined },
      { text: 'deleted', columns: undefined },
    ]);
    expect(refused.map(({ number }) => number)).to.deep.equal([3, 7, 11, 15, 19, 23, 27, 31, 35, 39]);
    expect(conflicts).to.deep.equal([]);
  });

  it('takes what a lost attempt has done for no conflict', async () => {
    let calls = 0;
    const lost: Send = async function* (body, options) {
      yield* sending()(body, options);
      if (++calls === 1) throw new TypeError('network error');
    };
    const asked: number[] = [];
    const told: unknown[] = [];
    const run = new ImportRun(lines('conflict', 'same', 'conflict', 'new', 'gone'), lost, {
      onResult: ({ number, result: { status, id, version } }) => told.push([number, status, id, version]),
      areDone: async (records) => {
        asked.push(...records.map(({ number }) => number));
        return records.map(({ number }) => number === 1);
      },
    });
    const failure = await failureOf(run);
    expect(failure).to.be.instanceOf(TypeError);
    expect(asked).to.deep.equal([]);
    await done(run);
    const { created, changed, unchanged, earlier, refused } = run.progress;
    expect(asked).to.deep.equal([1, 3]);
    expect(told).to.deep.equal([
      [1, 200, 3, 9],
      [2, 200, 2, 7],
      [3, 412, 3, 9],
      [4, 201, 1, 1],
      [5, 204, undefined, undefined],
    ]);
    expect({ created, changed, unchanged, earlier }).to.deep.equal({
      created: 1,
      changed: 0,
      unchanged: 0,
      earlier: 3,
    });
    expect([...refused]).to.deep.equal([['precondition_failed', 1]]);
    expect(run.findings.conflicts.map(({ number }) => number)).to.deep.equal([3]);
    const failed = (await run.refusedFile.text()).trimEnd().split('\n');
    expect(failed).to.have.length(1);
  });

  const limited = () => new CatalogueError(429, 'rate_limited', 'x', [], undefined, 1);
  for (const [what, errors, doubtful, counts] of [
    ['a refusal before the first record for no lost attempt', [limited()], undefined, [1, 0, 1]],
    ['a refusal behind a lost attempt for no end of the doubt', [new TypeError('x'), limited()], [1, 2], [0, 2, 0]],
  ] as const)
    it(`takes ${what}`, async () => {
      const left = [...errors];
      const failing: Send = async function* (body, options) {
        const error = left.shift();
        if (error) throw error;
        yield* sending()(body, options);
      };
      const run = new ImportRun(lines('conflict', 'same'), failing, { areDone: async (all) => all.map(() => true) });
      for (const _ of errors) await failureOf(run);
      expect(run.doubtful).to.deep.equal(doubtful);
      await done(run);
      expect(run.doubtful).to.equal(undefined);
      expect([run.progress.unchanged, run.progress.earlier, run.progress.refused.size]).to.deep.equal(counts);
    });
});

describe('the format of a file', () => {
  it('is that of its name, else of its type', () => {
    const of = (name: string, type = '') => formatOfFile({ name, type })?.name;
    expect([
      of('a.CSV'),
      of('a.tsv'),
      of('a.jsonl'),
      of('a.ndjson'),
      of('a', 'text/csv'),
      of('a.json'),
      of('csv'),
    ]).to.deep.equal(['CSV', 'CSV', 'NDJSON', 'NDJSON', 'CSV', undefined, undefined]);
  });
});
