import { once } from 'node:events';
import { expect } from 'chai';
import { expectIssues, expectRefusal, issuesOf, received, statusesIn } from '../support/http-client.js';
import { CSV, NDJSON, outcomes, resultsOf } from '../support/imports.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { LineStream, type ResultLine } from '../support/line-stream.js';
import { list } from '../support/list.js';

const PATH = '/v1/products/imports';

const statusesOf = (results: ResultLine[]) => results.map(({ line, status }) => `${line} ${status}`);

describe('an import of CSV', () => {
  const service = inProcessService({ STORE: 'sqlite', BODY_LIMIT_BYTES: '4096' });
  const send = (body: string | Buffer, headers: Record<string, string> = {}, path = PATH) =>
    service.post(path, body, { headers: { ...CSV, ...headers } });
  const created = async ({ id }: ResultLine, resource = 'products') => {
    const { id: _id, ...fields } = (await service.get(`/v1/${resource}/${id}`)).json;
    return fields;
  };
  const count = async () =>
    Number(
      (await service.get('/v1/products?limit=1', { headers: { Prefer: 'count=exact' } })).headers['x-total-count'],
    );
  const importOne = async (header: string, record: string) => {
    const [result, ...others] = resultsOf(await send(`${header}\r\n${record}\r\n`));
    expect(others).to.deep.equal([]);
    return result;
  };

  it('creates a record from each row, with columns in any order, and responds in NDJSON', async () => {
    const body =
      'price.currency,sku,name,price.amount,attributes\n' +
      'EUR,C-1,Lamp,4990,"{""colour"":""green"",""watts"":7.5,""dimmable"":true,""a.b:c"":""""}"\n' +
      ',,Chair,,\n';
    const response = await send(body);
    expect(response.headers['content-type']).to.equal('application/x-ndjson');
    const results = resultsOf(response);
    expect(statusesOf(results)).to.deep.equal(['1 201', '2 201']);
    expect(await created(results[0])).to.deep.equal({
      name: 'Lamp',
      sku: 'C-1',
      price: { amount: 4990, currency: 'EUR' },
      attributes: { colour: 'green', watts: 7.5, dimmable: true, 'a.b:c': '' },
    });
    expect(await created(results[1])).to.deep.equal({ name: 'Chair' });
  });

  it('skips a byte order mark and blank lines, and takes LF and CRLF, and no line end after the last record', async () => {
    for (const body of [
      '\ufeffname\na\nb',
      '\ufeff\r\n\n"name"\r\n\r\na\r\n\n\r\nb\r\n\n',
      '\r\n\ufeffname\na\nb\r\n',
    ]) {
      const results = resultsOf(await send(body));
      expect(statusesOf(results), JSON.stringify(body)).to.deep.equal(['1 201', '2 201']);
      expect((await created(results[1])).name).to.equal('b');
    }
    expect((await created(await importOne('name', '\ufeffx'))).name).to.equal('\ufeffx');
    expect((await send('\ufeff"name\n"\nx\n')).json.details[0]).to.include({ pointer: '/name\n' });
  });

  it('reports a malformed record in its own result, and continues', async () => {
    const records: [record: string, message: RegExp | undefined][] = [
      ['a', /^The record has 1 cell, and the header row has 2\.$/],
      ['a,b,c', /^The record has more than 2 cells, and the header row has 2\.$/],
      ['5" screen,b', /^Cell 1 of the record has a quotation mark/],
      ['a,"b"c', /^Cell 2 of the record has "c" after its closing quotation mark/],
      ['a,"b" ', /^Cell 2 of the record has " " after/],
      ['a\rb,c', /^Cell 1 of the record has a carriage return/],
      ['ok,"x ""y"" z"', undefined],
    ];
    const results = resultsOf(
      await send(`name,description\n${records.map(([record]) => `${record}\nafter,\n`).join('')}"never,closed\na,b\n`),
    );
    expect(results).to.have.length(2 * records.length + 1);
    records.forEach(([record, message], at) => {
      const { line, status, error } = results[2 * at];
      expect(line).to.equal(2 * at + 1);
      expect([status, error?.code], record).to.deep.equal(message ? [400, 'malformed_csv'] : [201, undefined]);
      if (message) expect(error).to.satisfy((one: ResultLine) => message.test(one.message) && one.details.length === 0);
      expect(results[2 * at + 1]).to.include({ line: 2 * at + 2, status: 201 });
    });
    expect(results.at(-1).error.message).to.match(/^Cell 1 .* begins with a quotation mark that is not closed\.$/);
  });

  it('rejects only the record that is not UTF-8, and names the column', async () => {
    const file = 'sku,,price.decimal,price.currency,name\na,,1,EUR,a\nb,,1,EUR,"K\xfcche, 2"\n,\xfc,,,c\nd,,1,EUR,d\n';
    const results = resultsOf(await send(Buffer.from(file, 'latin1')));
    const refused = [400, 'malformed_csv'];
    expect(outcomes(results)).to.deep.equal([201, refused, refused, 201]);
    expect(results.map(({ error }) => error?.message)).to.deep.equal([
      undefined,
      'The cell in the column name is not UTF-8. Save the file as CSV UTF-8.',
      'Cell 2 of the record is not UTF-8. Save the file as CSV UTF-8.',
      undefined,
    ]);
  });

  it('says how to save a file of another encoding, in the error of the whole request', async () => {
    const utf16 = Buffer.from('\ufeffname,sku\r\nA,B\r\n', 'utf16le');
    for (const [body, what] of [
      [utf16, 'The body is UTF-16.'],
      [Buffer.from(utf16).swap16(), 'The body is UTF-16.'],
      [Buffer.from('name,attributes.gr\xf6\xdfe\nA,B\n', 'latin1'), 'Cell 2 of the header row is not UTF-8.'],
    ] as const) {
      const { status, json } = await send(body);
      expect([status, json.code, json.message]).to.deep.equal([
        400,
        'malformed_csv',
        `${what} Save the file as CSV UTF-8.`,
      ]);
    }
  });

  it('takes columns without a name, as long as they have no value', async () => {
    const results = resultsOf(await send('name,,sku,\nA,,B,\nA,"",C,\nA,x,D,\nA,,E, \nA,,F\n,,,\n,\nA,,G,\n'));
    const malformed = [400, 'malformed_csv'];
    expect(outcomes(results)).to.deep.equal([201, 201, malformed, malformed, malformed, 201]);
    expect(results.map(({ line }) => line)).to.deep.equal([1, 2, 3, 4, 5, 6]);
    expect(results[2].error.message).to.equal('Cell 2 of the record has a value, and its column has no name.');
    expect(await created(results[1])).to.deep.equal({ name: 'A', sku: 'C' });
  });

  it('ignores records whose cells are all empty, and a first line sep=, without a number', async () => {
    for (const head of ['sep=,\n', '\ufeffsep=,\r\n', 'SEP=;\n', 'sep=\n', ',,\n\n,\n']) {
      const results = resultsOf(await send(`${head}name,description\n,,\na,\n,\r\n\n,,,,\n"",""\nb,\n,`));
      expect(statusesOf(results), JSON.stringify(head)).to.deep.equal(['1 201', '2 400', '3 201']);
    }
    const { json } = await send('sep=;\nname;sku\na;b\n');
    expect(json.details[0].message).to.include('separated by commas here, and a line sep= does not change that');
    expect((await send('name\nsep=;\n')).text, 'behind the header row').to.include('"status":201');
    expect((await send('sep=;\nsep=;\nname\n')).json.details[0].code, 'a second one').to.equal('unknown_field');
  });

  it('counts neither a line feed nor a carriage return before it', async () => {
    const within = `a,"${'x'.repeat(4_096 - 4)}"`;
    const records = [`${within}\r\n`, `${within}x\r\n`, `${within}\r\r\n`, `${within}\r\n`, 'b,\r\n', `${within}\r`];
    for (const size of [1, 4_096, 4_097, 100_000]) {
      const bytes = Buffer.from(`name,description\r\n${records.join('')}`);
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      const stream = new LineStream(service.startLines(PATH, CSV));
      for (const chunk of chunks) await stream.send(chunk);
      stream.end();
      const refused = [413, 'payload_too_large'];
      expect(outcomes(await stream.rest()), `${size}`).to.deep.equal([201, refused, refused, 201, 201, 201]);
    }
  });

  it('rejects only the record over the limit, and discards it however long it is', async () => {
    const stream = new LineStream(service.startLines(PATH, CSV));
    const within = `a,"${'x'.repeat(4_096 - 4)}"`;
    await stream.send(`name,description\n${within}\n${within}x\nb,\n"`);
    for (let i = 0; i < 200; i++) await stream.send('"",\n'.repeat(16_384));
    await stream.send(`",x\nc,\n${'y'.repeat(5_000)}`);
    stream.end();
    expect(outcomes(await stream.rest())).to.deep.equal([
      // The record is within the limit with its quotation marks; the line feed does not count.
      201,
      [413, 'payload_too_large'],
      201,
      [413, 'payload_too_large'],
      201,
      [413, 'payload_too_large'],
    ]);
  });

  describe('with an invalid header row', () => {
    const LONG = 'k'.repeat(65);
    const HEADERS: readonly (readonly string[])[] = [
      ['name,colour', 'unknown_field /colour'],
      ['name,name', 'duplicate_value /name'],
      ['name,attributes.a,attributes.a', 'duplicate_value /attributes.a'],
      ['name,attributes,attributes.a', 'duplicate_value /attributes'],
      ['name,attributes[a]:number,attributes', 'duplicate_value /attributes'],
      ['name,attributes.a,attributes[a]:number', 'duplicate_value /attributes[a]:number'],
      ...list`attributes[]  attributes[a]:integer  attributes[a  attributes[]:number  attributes[a]x  attributes.`.map(
        (column) => [`name,${column}`, `unknown_field /${column}`],
      ),
      ...list`price.decimal:number  tags.0  images.url  images[0]  tags[]  stock:number  Tags`.map((column) => [
        `name,${column}`,
        `unknown_field /${column}`,
      ]),
      [`name,attributes[${LONG}]:number`, `too_long /attributes[${LONG}]:number`],
      [`name,attributes.${LONG}`, `too_long /attributes.${LONG}`],
      ['name,attributes[__proto__]:boolean', 'invalid_format /attributes[__proto__]:boolean'],
      ['sku', 'required /name'],
      ['id,name', 'read_only_field /id'],
      list`updatedAt,Name,version,a/b~c,,createdAt, sku,price  read_only_field /updatedAt  unknown_field /Name
        read_only_field /version  unknown_field /a~1b~0c  read_only_field /createdAt  unknown_field / sku
        unknown_field /price  required /name`,
      ['name,price.decimal,price.amount,price.currency', 'duplicate_value /price.decimal'],
      ['name,price.decimal', 'required /price.currency'],
      list`price.amount,price.decimal,price.decimal  duplicate_value /price.decimal  duplicate_value /price.decimal
        required /price.currency  required /name`,
      ['name,constructor,__proto__', 'unknown_field /constructor', 'unknown_field /__proto__'],
    ];
    for (const [query, header, ...issues] of [
      ...HEADERS.map((row) => ['', ...row]),
      ['?dryRun=true', 'name,id', 'read_only_field /id'],
      ['?match=sku', 'name,price.amount', 'required /sku'],
      ['?match=id', 'name,sku', 'required /id'],
      ['?match=sku', 'sku,createdAt,nonsense', 'read_only_field /createdAt', 'unknown_field /nonsense'],
      ['?match=id', 'id,id,version,version', 'duplicate_value /id', 'duplicate_value /version'],
      ['?match=id', 'ID,Version', 'unknown_field /ID', 'unknown_field /Version', 'required /id'],
      ['?match=sku', 'sku,price.decimal', 'required /price.currency'],
    ] as [string, string, ...string[]][])
      it(`creates nothing and reports every column: ${query} ${header.slice(0, 60)}`, async () => {
        const before = await count();
        await expectIssues(send(`${header}\n${header}\nLamp\n`, {}, `${PATH}${query}`), 'validation_failed', issues);
        expect(await count()).to.equal(before);
      });

    it('names match where a column of ids needs it', async () => {
      expect((await send('name,id\n')).json.details[0].message).to.include('?match=id');
    });

    it('that is missing or malformed', async () => {
      for (const [header, message] of [
        ...['', '\n\r\n\n', '\ufeff', '\ufeff\r\n'].map((body) => [body, 'The body has no header row.'] as const),
        ...['"name', 'na"me', 'name,"sku"x', Buffer.from([0xff, 0xfe, 0x6e, 0])].map((body) => [body, ''] as const),
      ] as const) {
        const { json } = await expectRefusal(send(header), 'malformed_csv', JSON.stringify(header));
        expect(json.message).to.include(message);
      }
    });

    it('names another separator, if the row has one', async () => {
      for (const [header, separator] of [
        ['name;sku', '";"'],
        ['name\tsku', '"\\t"'],
        ['name|sku', '"|"'],
      ] as const)
        expect((await send(`${header}\n`)).json.details[0].message).to.include(
          `${separator} in it: cells are separated by commas`,
        );
      expect((await send('name,a;b\n')).text).to.not.include('separated');
      expect((await send('"name";"sku"\n')).json.message).to.include('";" after its closing quotation mark');
    });

    it('over the limit of a body, or of columns, is 413', async () => {
      expect((await send(`name,attributes.${'k'.repeat(4_096)}\nx,\n`)).json.code).to.equal('payload_too_large');
      expect((await send(`name${',x'.repeat(2_000)}\n`)).json.details).to.have.length(1_000);
    });

    it('is reported before the client has sent the rest, which is dropped', async () => {
      const socket = await service.connect();
      const all = received(socket);
      const authorization = `Host: x\r\nAuthorization: Bearer ${FIRST_KEY}\r\n`;
      const refused = once(socket, 'data');
      socket.write(
        `POST ${PATH} HTTP/1.1\r\n${authorization}Content-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      socket.write('7\r\ncolour\n\r\n');
      expect(String(await refused)).to.match(/^HTTP\/1\.1 400 /);
      for (let i = 0; i < 100; i++)
        if (!socket.write(`10000\r\n${'x'.repeat(65_536)}\r\n`)) await once(socket, 'drain');
      socket.write(`0\r\n\r\nGET ${PATH} HTTP/1.1\r\n${authorization}Connection: close\r\n\r\n`);
      expect(statusesIn(await all)).to.deep.equal(['400 validation_failed', '405 method_not_allowed']);
    });

    it('leaves its Idempotency-Key usable', async () => {
      const key = { 'Idempotency-Key': 'corrected header' };
      expect((await send('colour\nx\n', key)).status).to.equal(400);
      expect(outcomes(resultsOf(await send('name\nx\n', key)))).to.deep.equal([201]);
    });
  });

  it('is 408 in the log alone if its client goes during the header row', async () => {
    const socket = await service.connect();
    socket.write(`POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${FIRST_KEY}\r\nExpect: 100-continue\r\n`);
    socket.write('Content-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n');
    await once(socket, 'data');
    socket.write('2\r\nna\r\n');
    socket.destroy();
    expect(outcomes(resultsOf(await send('name\nx\n')))).to.deep.equal([201]);
  });

  describe('with an Idempotency-Key', () => {
    it('creates only what is missing, by the values of the cells', async () => {
      const key = { 'Idempotency-Key': 'csv stream' };
      const first = resultsOf(await send('name,price.amount,price.currency\na,100,EUR\nb\n', key));
      expect(outcomes(first)).to.deep.equal([201, [400, 'malformed_csv']]);
      const again = resultsOf(await send('\ufeffprice.currency,price.amount,name\r\nEUR,100,"a"\r\n,,b\r\n,,c', key));
      const [, two, three] = again.map(({ id }) => ({ status: 201, id }));
      expect(again).to.deep.equal([
        { ...first[0], replayed: true },
        { line: 2, ...two },
        { line: 3, ...three },
      ]);
      expect(outcomes(resultsOf(await send('name\nother\n', key)))).to.deep.equal([[422, 'idempotency_key_reused']]);
    });
  });

  it('takes empty with match alone, which NDJSON does not take', async () => {
    for (const [query, headers, issues] of [
      ['empty=clear', CSV, 1],
      ['empty=keep', CSV, 1],
      ['match=sku&empty=clear', NDJSON, 1],
      ['empty=keep&existing=merge', NDJSON, 3],
      ['match=sku&empty=CLEAR', CSV, 1],
    ] as const) {
      const response = await expectRefusal(
        service.post(`${PATH}?${query}`, '', { headers }),
        'invalid_parameter',
        query,
      );
      expect(issuesOf(response), query).to.have.length(issues);
    }
  });

  describe('is negotiated', () => {
    it('with charset=utf-8 and header=present only', async () => {
      for (const type of ['text/csv; charset=utf-8', 'Text/CSV;charset="UTF-8"; header=present'])
        expect(outcomes(resultsOf(await send('name\nx\n', { 'Content-Type': type }))), type).to.deep.equal([201]);
      for (const type of ['text/csv; charset=iso-8859-1', 'text/csv; header=absent', 'text/csv;HEADER="Absent"'])
        await expectRefusal(send('name\nx\n', { 'Content-Type': type }), 'unsupported_media_type', type);
      expect((await send('name\nx\n', { 'Content-Encoding': 'gzip' })).status).to.equal(415);
    });

    it('not for orders, nor by the collection, which names the right path', async () => {
      for (const path of ['/v1/orders/imports', '/v1/orders', '/v1/api-keys']) {
        const response = await send('x', {}, path);
        const { json } = await expectRefusal(response, 'unsupported_media_type', path);
        expect(json.message).to.not.include('text/csv');
      }
      for (const path of ['/products', '/v1/users']) {
        const { status, json } = await send('name\nx\n', {}, path);
        expect([status, json.message], path).to.deep.equal([
          415,
          `Send the body as application/json in UTF-8, without a content coding. Send text/csv to ${path}/imports.`,
        ]);
      }
    });
  });
});
