import { once } from 'node:events';
import { expect } from 'chai';
import { issueLocations, received, statusesIn } from '../support/http-client.js';
import { CSV, outcomes, resultsOf } from '../support/imports.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { LineStream, type ResultLine } from '../support/line-stream.js';
import { list } from '../support/list.js';

const PATH = '/v1/products/imports';

describe('an import of CSV', () => {
  const service = inProcessService({ STORE: 'sqlite', BODY_LIMIT_BYTES: '4096' });
  const send = (body: string | Buffer, headers: Record<string, string> = {}, path = PATH) =>
    service.client.post(path, body, { headers: { ...CSV, ...headers } });
  const created = async ({ id }: ResultLine, resource = 'products') => {
    const { id: _id, ...fields } = (await service.client.get(`/v1/${resource}/${id}`)).json;
    return fields;
  };
  const count = async () =>
    Number(
      (await service.client.get('/v1/products?limit=1', { headers: { Prefer: 'count=exact' } })).headers[
        'x-total-count'
      ],
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
    expect(results.map(({ line, status }) => [line, status])).to.deep.equal([
      [1, 201],
      [2, 201],
    ]);
    expect(await created(results[0])).to.deep.equal({
      name: 'Lamp',
      sku: 'C-1',
      price: { amount: 4990, currency: 'EUR' },
      attributes: { colour: 'green', watts: 7.5, dimmable: true, 'a.b:c': '' },
    });
    expect(await created(results[1])).to.deep.equal({ name: 'Chair' });
  });

  it('changes the records that it matches, with match', async () => {
    const { id } = (await service.client.post('/v1/products', { name: 'Lamp', sku: 'M-1', description: 'x' }))
      .json;
    const body = 'sku,name,description,version\nM-1,Torch,,1\nM-1,Late,,1\nM-2,New,,\n';
    const results = resultsOf(await send(body, {}, `${PATH}?match=sku`));
    expect(outcomes(results)).to.deep.equal([200, [412, 'precondition_failed'], 201]);
    expect(await created({ id })).to.deep.equal({ name: 'Torch', sku: 'M-1', description: 'x' });
  });

  it('takes users too', async () => {
    const results = resultsOf(
      await send('email,name\nAnn@example.com,Ann\nno address,Bob\n', {}, '/users/imports'),
    );
    expect(outcomes(results)).to.deep.equal([201, [400, 'validation_failed', 'invalid_format /email']]);
    expect(await created(results[0], 'users')).to.deep.equal({ name: 'Ann', email: 'Ann@example.com' });
  });

  it('takes an empty cell for no value, and "" for an empty text', async () => {
    const result = await importOne('name,description,attributes.a,attributes.b', 'x,"","",');
    expect(await created(result)).to.deep.equal({ name: 'x', description: '', attributes: { a: '' } });
    expect(await created(await importOne('name,description,attributes.a', 'x,,'))).to.deep.equal({
      name: 'x',
    });
    expect(outcomes([await importOne('name,price.amount', '"",""')])).to.deep.equal([
      [400, 'validation_failed', 'too_short /name', 'invalid_type /price/amount', 'required /price/currency'],
    ]);
  });

  it('types attributes.KEY as text, with everything after the first dot as the key', async () => {
    const result = await importOne(
      'name,attributes.watts,"attributes.a.b:c, d",attributes.on',
      'x,7.5,1,true',
    );
    expect((await created(result)).attributes).to.deep.equal({ watts: '7.5', 'a.b:c, d': '1', on: 'true' });
  });

  it('reads quoted commas, quotation marks and line ends, and does not trim', async () => {
    const result = await importOne('name,description', '" a, ""b"" ","1\r\n2\n3\r,\r\n\r\n"');
    expect(await created(result)).to.deep.equal({ name: ' a, "b" ', description: '1\r\n2\n3\r,\r\n\r\n' });
    expect((await created(await importOne('name', ' =1+1 '))).name).to.equal(' =1+1 ');
  });

  it('skips a byte order mark and blank lines, and takes LF and CRLF, and no line end after the last record', async () => {
    for (const body of [
      '\ufeffname\na\nb',
      '\ufeff\r\n\n"name"\r\n\r\na\r\n\n\r\nb\r\n\n',
      '\r\n\ufeffname\na\nb\r\n',
    ]) {
      const results = resultsOf(await send(body));
      expect(
        results.map(({ line, status }) => [line, status]),
        JSON.stringify(body),
      ).to.deep.equal([
        [1, 201],
        [2, 201],
      ]);
      expect((await created(results[1])).name).to.equal('b');
    }
    expect((await created(await importOne('name', '\ufeffx'))).name).to.equal('\ufeffx');
    expect((await send('\ufeff"name\n"\nx\n')).json.details[0]).to.include({ pointer: '/name\n' });
  });

  it('takes an amount in the smallest unit as a plain integer', async () => {
    for (const [cell, amount] of [
      ['9007199254740991', 9007199254740991],
      ['"7"', 7],
      ['-0', 0],
    ])
      expect(
        (await created(await importOne('name,price.amount,price.currency', `x,${cell},EUR`))).price.amount,
      ).to.equal(amount);
    for (const cell of [
      ...list`0x10  ٣  +5  05  5.  .5  1_000  "1,000"  1e2  100.0  25.00  "24,99"  1e400  NaN  Infinity  true  1.5`,
      ...list`0.99999999999999999`,
      ' 5',
      '5 ',
    ])
      expect(
        outcomes([await importOne('name,price.amount,price.currency', `x,${cell},EUR`)]),
        cell,
      ).to.deep.equal([[400, 'validation_failed', 'invalid_type /price/amount']]);
    const [result] = resultsOf(await send('name,price.amount,price.currency\nx,25.00,EUR\n'));
    expect(result.error.details[0].message)
      .to.include('in the smallest unit')
      .and.to.include('price.decimal');
    for (const cell of ['-1', '9007199254740992'])
      expect(
        outcomes([await importOne('name,price.amount,price.currency', `x,${cell},EUR`)]),
        cell,
      ).to.deep.equal([[400, 'validation_failed', 'out_of_range /price/amount']]);
  });

  it('takes an amount in the major unit in price.decimal, exactly and with the digits of the currency', async () => {
    const header = 'name,price.decimal,price.currency';
    for (const [cell, currency, amount] of [
      ['19.99', 'EUR', 1999],
      ['19.9', 'EUR', 1990],
      ['19', 'EUR', 1900],
      ['25.00', 'EUR', 2500],
      ['0', 'EUR', 0],
      ['"0.07"', 'EUR', 7],
      ['007.5', 'EUR', 750],
      ['1.15', 'EUR', 115],
      ['90071992547409.91', 'EUR', 9007199254740991],
      ['1999', 'JPY', 1999],
      ['1.234', 'KWD', 1234],
      ['1.2345', 'CLF', 12345],
      ['1.23', 'XYZ', 123],
      ['34.0000', 'EUR', 3400],
      ['19.900000', 'EUR', 1990],
      ['1.2340', 'KWD', 1234],
      ['1999.0000', 'JPY', 1999],
    ] as const)
      expect(await created(await importOne(header, `x,${cell},${currency}`)), cell).to.deep.equal({
        name: 'x',
        price: { amount, currency },
      });
    expect(
      (await created(await importOne('price.currency,price.decimal,name', 'EUR,2.5,x'))).price,
    ).to.deep.equal({
      amount: 250,
      currency: 'EUR',
    });
    for (const [cell, currency, code, rule] of [
      ['19.999', 'EUR', 'invalid_type', 'at most 2 digits behind it: 19.99'],
      ['1999.5', 'JPY', 'invalid_type', 'JPY, without a point: 1999'],
      ['19.990001', 'EUR', 'invalid_type', 'at most 2 digits behind it: 19.99'],
      ['1.2345', 'KWD', 'invalid_type', 'at most 3 digits behind it: 1.999'],
      ['"19,99"', 'EUR', 'invalid_type', 'in the major unit of EUR'],
      ['"1,299.00"', 'EUR', 'invalid_type', 'point'],
      ['1e2', 'EUR', 'invalid_type', 'point'],
      ['.5', 'EUR', 'invalid_type', 'point'],
      ['5.', 'EUR', 'invalid_type', 'point'],
      ['+5', 'EUR', 'invalid_type', 'point'],
      [' 5', 'EUR', 'invalid_type', 'point'],
      ['EUR 5', 'EUR', 'invalid_type', 'point'],
      ['٣', 'EUR', 'invalid_type', 'point'],
      ['""', 'EUR', 'invalid_type', 'point'],
      ['-1.00', 'EUR', 'out_of_range', 'from 0 to 90071992547409.91'],
      ['90071992547409.92', 'EUR', 'out_of_range', 'from 0 to 90071992547409.91'],
      ['90071992547409.9200', 'EUR', 'out_of_range', 'from 0 to 90071992547409.91'],
    ] as const) {
      const result = await importOne(header, `x,${cell},${currency}`);
      expect(outcomes([result]), cell).to.deep.equal([[400, 'validation_failed', `${code} /price/decimal`]]);
      expect(result.error.details[0].message, cell).to.include(rule);
    }
  });

  it('needs a currency beside an amount in the major unit, and takes neither for no price', async () => {
    const header = 'name,price.decimal,price.currency';
    expect(await created(await importOne(header, 'x,,'))).to.deep.equal({ name: 'x' });
    for (const [record, issues] of [
      ['x,19.99,', ['required /price/currency']],
      ['x,abc,', ['invalid_type /price/decimal', 'required /price/currency']],
      ['x,,EUR', ['required /price/decimal']],
      ['x,19.99,eur', ['invalid_format /price/currency']],
      [',19.999,eur', ['required /name', 'invalid_type /price/decimal', 'invalid_format /price/currency']],
    ] as const)
      expect(outcomes([await importOne(header, record)]), record).to.deep.equal([
        [400, 'validation_failed', ...issues],
      ]);
  });

  it('reports the issues of a record as for JSON, all at once', async () => {
    expect(
      outcomes([await importOne('name,sku,price.amount,attributes', '"a\nb",ä,5,"{""x"":[]}"')]),
    ).to.deep.equal([
      [
        400,
        'validation_failed',
        'invalid_format /name',
        'invalid_format /sku',
        'required /price/currency',
        'invalid_type /attributes/x',
      ],
    ]);
    for (const control of ['\0', '\u0001', '\u007f'])
      expect(outcomes([await importOne('name', `a${control}b`)])).to.deep.equal([
        [400, 'validation_failed', 'invalid_format /name'],
      ]);
    expect(outcomes([await importOne('name,price.currency', 'x,EUR')])).to.deep.equal([
      [400, 'validation_failed', 'required /price/amount'],
    ]);
    expect(outcomes([await importOne('name,attributes', 'x,5')])).to.deep.equal([
      [400, 'validation_failed', 'invalid_type /attributes'],
    ]);
  });

  it('reads attributes by the rules of JSON bodies', async () => {
    for (const cell of [
      '{',
      '""',
      '"{""a"":1,""a"":2}"',
      '"{""__proto__"":1}"',
      `${'['.repeat(30)}${']'.repeat(30)}`,
    ]) {
      const result = await importOne('name,attributes', `x,${cell}`);
      expect(outcomes([result]), cell).to.deep.equal([[400, 'malformed_json', 'invalid_format /attributes']]);
      expect(result.error.message).to.match(/^The cell in the column attributes /);
    }
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
      await send(
        `name,description\n${records.map(([record]) => `${record}\nafter,\n`).join('')}"never,closed\na,b\n`,
      ),
    );
    expect(results).to.have.length(2 * records.length + 1);
    records.forEach(([record, message], at) => {
      const { line, status, error } = results[2 * at];
      expect([line, status, error?.code], record).to.deep.equal([
        2 * at + 1,
        message ? 400 : 201,
        message && 'malformed_csv',
      ]);
      if (message)
        expect(error).to.satisfy((one: ResultLine) => message.test(one.message) && one.details.length === 0);
      expect(results[2 * at + 1]).to.include({ line: 2 * at + 2, status: 201 });
    });
    expect(results.at(-1).error.message).to.match(
      /^Cell 1 .* begins with a quotation mark that is not closed\.$/,
    );
  });

  it('continues behind a quotation mark that is not closed, where the next one shows the end', async () => {
    const results = resultsOf(await send('name,description\n"Lamp,a\n"Chair",b\nTable,c\n'));
    expect(outcomes(results)).to.deep.equal([[400, 'malformed_csv'], 201]);
    expect((await created(results[1])).name).to.equal('Table');
  });

  it('rejects only the record that is not UTF-8, and names the column', async () => {
    const file =
      'sku,,price.decimal,price.currency,name\na,,1,EUR,a\nb,,1,EUR,"K\xfcche, 2"\n,\xfc,,,c\nd,,1,EUR,d\n';
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
    const results = resultsOf(
      await send('name,,sku,\nA,,B,\nA,"",C,\nA,x,D,\nA,,E, \nA,,F\n,,,\n,\nA,,G,\n'),
    );
    const malformed = [400, 'malformed_csv'];
    expect(outcomes(results)).to.deep.equal([201, 201, malformed, malformed, malformed, 201]);
    expect(results.map(({ line }) => line)).to.deep.equal([1, 2, 3, 4, 5, 6]);
    expect(results[2].error.message).to.equal(
      'Cell 2 of the record has a value, and its column has no name.',
    );
    expect(await created(results[1])).to.deep.equal({ name: 'A', sku: 'C' });
  });

  it('ignores records whose cells are all empty, and a first line sep=, without a number', async () => {
    for (const head of ['sep=,\n', '\ufeffsep=,\r\n', 'SEP=;\n', 'sep=\n', ',,\n\n,\n']) {
      const results = resultsOf(await send(`${head}name,description\n,,\na,\n,\r\n\n,,,,\n"",""\nb,\n,`));
      expect(
        results.map(({ line, status }) => [line, status]),
        JSON.stringify(head),
      ).to.deep.equal([
        [1, 201],
        [2, 400],
        [3, 201],
      ]);
    }
    const { json } = await send('sep=;\nname;sku\na;b\n');
    expect(json.details[0].message).to.include(
      'separated by commas here, and a line sep= does not change that',
    );
    expect((await send('name\nsep=;\n')).text, 'behind the header row').to.include('"status":201');
    expect((await send('sep=;\nsep=;\nname\n')).json.details[0].code, 'a second one').to.equal(
      'unknown_field',
    );
  });

  it('types attributes[KEY]:number and attributes[KEY]:boolean, and takes attributes[KEY] for attributes.KEY', async () => {
    const header =
      'attributes[watts]:number,attributes[on]:boolean,attributes[a.b[0]:number],attributes.c]:number,name';
    expect(await created(await importOne(header, '7.5,true,1,2,x'))).to.deep.equal({
      name: 'x',
      attributes: { watts: 7.5, on: true, 'a.b[0]:number': '1', 'c]:number': '2' },
    });
    expect(await created(await importOne(header, '-1e2,FALSE,,,x'))).to.deep.equal({
      name: 'x',
      attributes: { watts: -100, on: false },
    });
    expect(await created(await importOne(header, ',,,,x'))).to.deep.equal({ name: 'x' });
    const typed = 'attributes[watts]:number,attributes[on]:boolean,name';
    const [watts, on] = ['invalid_type /attributes/watts', 'invalid_type /attributes/on'];
    for (const [record, issues] of [
      ['"7,5",yes,x', [watts, on]],
      [' 7," true",x', [watts, on]],
      ['NaN,T,x', [watts, on]],
      ['"",1,x', [watts, on]],
      ['true,"",x', [watts, on]],
      ['1e400,,x', ['out_of_range /attributes/watts']],
      ['0x10,false,', ['required /name', watts]],
    ] as const) {
      const result = await importOne(typed, record);
      expect(outcomes([result]), record).to.deep.equal([[400, 'validation_failed', ...issues]]);
    }
    const [{ error }] = resultsOf(await send(`${typed}\nx,x,x\n`)) as [ResultLine];
    expect(error.details.map(({ message }: ResultLine) => message)).to.deep.equal([
      'attributes.watts takes a number such as 7.5 or 0.25, with a point and a digit before it.',
      'attributes.on takes true or false.',
    ]);
  });

  it('counts neither a line feed nor a carriage return before it', async () => {
    const within = `a,"${'x'.repeat(4_096 - 4)}"`;
    const records = [
      `${within}\r\n`,
      `${within}x\r\n`,
      `${within}\r\r\n`,
      `${within}\r\n`,
      'b,\r\n',
      `${within}\r`,
    ];
    for (const size of [1, 4_096, 4_097, 100_000]) {
      const bytes = Buffer.from(`name,description\r\n${records.join('')}`);
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      const stream = new LineStream(service.client.startLines(PATH, CSV));
      for (const chunk of chunks) await stream.send(chunk);
      stream.end();
      const refused = [413, 'payload_too_large'];
      expect(outcomes(await stream.rest()), `${size}`).to.deep.equal([201, refused, refused, 201, 201, 201]);
    }
  });

  it('rejects only the record over the limit, and discards it however long it is', async () => {
    const stream = new LineStream(service.client.startLines(PATH, CSV));
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

  it('reassembles a record whose bytes arrive one by one', async () => {
    const stream = new LineStream(service.client.startLines(PATH, CSV));
    const body = '\ufeffname,description\r\n"é 😀, ""x""","a\r\nb"\r\n\r\nlast,""';
    for (const byte of Buffer.from(body)) await stream.send(Buffer.from([byte]));
    stream.end();
    const results = await stream.rest();
    expect(outcomes(results)).to.deep.equal([201, 201]);
    expect(await created(results[0])).to.deep.equal({ name: 'é 😀, "x"', description: 'a\r\nb' });
    expect(await created(results[1])).to.deep.equal({ name: 'last', description: '' });
  });

  it('responds to each record immediately', async () => {
    const stream = new LineStream(service.client.startLines(PATH, CSV));
    await stream.send('name\n');
    for (let number = 1; number <= 3; number++) {
      await stream.send(`waiting ${number}\n`);
      expect(await stream.next()).to.include({ line: number, status: 201 });
    }
    stream.end();
    expect(await stream.rest()).to.deep.equal([]);
  });

  describe('with an invalid header row', () => {
    const HEADERS: [header: string, issues: [string, string][]][] = [
      ['name,colour', [['unknown_field', '/colour']]],
      ['name,name', [['duplicate_value', '/name']]],
      ['name,attributes.a,attributes.a', [['duplicate_value', '/attributes.a']]],
      ['name,attributes,attributes.a', [['duplicate_value', '/attributes']]],
      ['name,attributes[a]:number,attributes', [['duplicate_value', '/attributes']]],
      ['name,attributes.a,attributes[a]:number', [['duplicate_value', '/attributes[a]:number']]],
      [
        'name,attributes[],attributes[a]:integer,attributes[a,attributes[]:number,attributes[a]x,price.decimal:number',
        [
          ['unknown_field', '/attributes[]'],
          ['unknown_field', '/attributes[a]:integer'],
          ['unknown_field', '/attributes[a'],
          ['unknown_field', '/attributes[]:number'],
          ['unknown_field', '/attributes[a]x'],
          ['unknown_field', '/price.decimal:number'],
        ],
      ],
      [`name,attributes[${'k'.repeat(65)}]:number`, [['too_long', `/attributes[${'k'.repeat(65)}]:number`]]],
      ['name,attributes[__proto__]:boolean', [['invalid_format', '/attributes[__proto__]:boolean']]],
      ['attributes.a,name,attributes', [['duplicate_value', '/attributes']]],
      ['sku', [['required', '/name']]],
      ['id,name', [['read_only_field', '/id']]],
      [
        'updatedAt,Name,version,a/b~c,,createdAt, sku,attributes.,price',
        [
          ['read_only_field', '/updatedAt'],
          ['unknown_field', '/Name'],
          ['read_only_field', '/version'],
          ['unknown_field', '/a~1b~0c'],
          ['read_only_field', '/createdAt'],
          ['unknown_field', '/ sku'],
          ['unknown_field', '/attributes.'],
          ['unknown_field', '/price'],
          ['required', '/name'],
        ],
      ],
      ['name,price.decimal,price.amount,price.currency', [['duplicate_value', '/price.decimal']]],
      ['name,price.decimal', [['required', '/price.currency']]],
      [
        'price.amount,price.decimal,price.decimal',
        [
          ['duplicate_value', '/price.decimal'],
          ['duplicate_value', '/price.decimal'],
          ['required', '/price.currency'],
          ['required', '/name'],
        ],
      ],
      [`name,attributes.${'k'.repeat(65)}`, [['too_long', `/attributes.${'k'.repeat(65)}`]]],
      ['name,attributes.__proto__', [['invalid_format', '/attributes.__proto__']]],
      [
        'name,constructor,__proto__',
        [
          ['unknown_field', '/constructor'],
          ['unknown_field', '/__proto__'],
        ],
      ],
    ];
    for (const [header, issues] of HEADERS)
      it(`creates nothing and reports every column: ${header.slice(0, 60)}`, async () => {
        const before = await count();
        const response = await send(`${header}\n${header}\nLamp\n`);
        expect([response.status, response.json.code]).to.deep.equal([400, 'validation_failed']);
        expect(issueLocations(response)).to.deep.equal(issues);
        expect(await count()).to.equal(before);
      });

    for (const body of ['', '\n\r\n\n', '\ufeff', '\ufeff\r\n'])
      it(`that is missing: ${JSON.stringify(body)}`, async () => {
        const { status, json } = await send(body);
        expect([status, json.code, json.message]).to.deep.equal([
          400,
          'malformed_csv',
          'The body has no header row.',
        ]);
      });

    it('that is malformed', async () => {
      for (const header of ['"name', 'na"me', 'name,"sku"x', Buffer.from([0xff, 0xfe, 0x6e, 0])]) {
        const { status, json } = await send(header);
        expect([status, json.code]).to.deep.equal([400, 'malformed_csv']);
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
      expect((await send(`name,attributes.${'k'.repeat(4_096)}\nx,\n`)).json.code).to.equal(
        'payload_too_large',
      );
      expect((await send(`name${',x'.repeat(2_000)}\n`)).json.details).to.have.length(1_000);
    });

    it('is reported before the client has sent the rest, which is dropped', async () => {
      const socket = await service.client.connect();
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
      expect(statusesIn(await all)).to.deep.equal([
        [400, 'validation_failed'],
        [405, 'method_not_allowed'],
      ]);
    });

    it('leaves its Idempotency-Key usable', async () => {
      const key = { 'Idempotency-Key': 'corrected header' };
      expect((await send('colour\nx\n', key)).status).to.equal(400);
      expect(outcomes(resultsOf(await send('name\nx\n', key)))).to.deep.equal([201]);
    });
  });

  it('is 408 in the log alone if its client goes during the header row', async () => {
    const socket = await service.client.connect();
    socket.write(
      `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${FIRST_KEY}\r\nExpect: 100-continue\r\n`,
    );
    socket.write('Content-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n');
    await once(socket, 'data');
    socket.write('2\r\nna\r\n');
    socket.destroy();
    expect(outcomes(resultsOf(await send('name\nx\n')))).to.deep.equal([201]);
  });

  it('sends 100 Continue before it reads the header row', async () => {
    const stream = new LineStream(service.client.startLines(PATH, { ...CSV, Expect: '100-continue' }));
    await once(stream.request, 'continue');
    await stream.send('name\nx\n');
    stream.end();
    expect(outcomes(await stream.rest())).to.deep.equal([201]);
  });

  it('is cut off if its client continues with bytes that are not HTTP', async () => {
    const socket = await service.client.connect();
    socket.on('data', () => socket.write('no chunk\r\n'));
    socket.write(`POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${FIRST_KEY}\r\n`);
    socket.write('Content-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nname\nx\n\r\n');
    expect(statusesIn(await received(socket))).to.deep.equal([[200, undefined]]);
  });

  describe('with an Idempotency-Key', () => {
    it('creates only what is missing, by the values of the cells', async () => {
      const key = { 'Idempotency-Key': 'csv stream' };
      const first = resultsOf(await send('name,price.amount,price.currency\na,100,EUR\nb\n', key));
      expect(outcomes(first)).to.deep.equal([201, [400, 'malformed_csv']]);
      const again = resultsOf(
        await send('\ufeffprice.currency,price.amount,name\r\nEUR,100,"a"\r\n,,b\r\n,,c', key),
      );
      expect(again).to.deep.equal([
        { ...first[0], replayed: true },
        { line: 2, status: 201, id: again[1].id },
        { line: 3, status: 201, id: again[2].id },
      ]);
      expect(outcomes(resultsOf(await send('name\nother\n', key)))).to.deep.equal([
        [422, 'idempotency_key_reused'],
      ]);
    });

    it('is the same stream as NDJSON with the same values', async () => {
      const key = { 'Idempotency-Key': 'two formats' };
      const [first] = resultsOf(await send('name,attributes\na,"{""x"":1,""y"":""2""}"\n', key));
      const ndjson = { ...key, 'Content-Type': 'application/x-ndjson' };
      const [again] = resultsOf(await send('{"attributes":{"y":"2","x":1},"name":"a"}\n', ndjson));
      expect(again).to.deep.equal({ ...first, replayed: true });
    });
  });

  describe('is negotiated', () => {
    it('with charset=utf-8 and header=present only', async () => {
      for (const type of ['text/csv; charset=utf-8', 'Text/CSV;charset="UTF-8"; header=present'])
        expect(outcomes(resultsOf(await send('name\nx\n', { 'Content-Type': type }))), type).to.deep.equal([
          201,
        ]);
      for (const type of [
        'text/csv; charset=iso-8859-1',
        'text/csv; header=absent',
        'text/csv;HEADER="Absent"',
      ]) {
        const response = await send('name\nx\n', { 'Content-Type': type });
        expect([response.status, response.json.code], type).to.deep.equal([415, 'unsupported_media_type']);
      }
      expect((await send('name\nx\n', { 'Content-Encoding': 'gzip' })).status).to.equal(415);
    });

    it('not for orders, nor by the collection, which names the right path', async () => {
      for (const path of ['/v1/orders/imports', '/v1/orders', '/v1/api-keys']) {
        const response = await send('x', {}, path);
        expect([response.status, response.json.message], path).to.satisfy(
          ([status, message]: [number, string]) => status === 415 && !message.includes('text/csv'),
        );
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
