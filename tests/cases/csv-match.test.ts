import { expect } from 'chai';
import { issueLocations } from '../support/http-client.js';
import { CSV, NDJSON, outcomes, rehearsedImport } from '../support/imports.js';
import { inProcessService } from '../support/in-process-service.js';
import type { ResultLine } from '../support/line-stream.js';
import { list } from '../support/list.js';

type Fields = Readonly<Record<string, unknown>>;

const FULL = {
  name: 'Lamp',
  description: 'Bright',
  price: { amount: 1999, currency: 'EUR' },
  attributes: { watt: 60, colour: 'red', on: true },
};

describe('an import of CSV with match', () => {
  const service = inProcessService({ STORE: 'sqlite' });
  let count = 0;
  const send = (query: string, csv: string, plural = 'products') =>
    rehearsedImport(service.client, { target: `/v1/${plural}/imports?${query}`, body: csv, headers: CSV });
  const create = async (fields: Fields = FULL) => {
    const sku = `C-${++count}`;
    const { status, text, json } = await service.client.post('/v1/products', { ...fields, sku });
    expect(status, text).to.equal(201);
    return { sku, id: json.id as number };
  };
  const read = async (id: number) => {
    const { status, json } = await service.client.get(`/v1/products/${id}`);
    if (status === 404) return status;
    const { id: _id, sku: _sku, ...fields } = json;
    return fields;
  };
  /** Applies one row to a new product. */
  const apply = async (header: string, row: string, existing = 'merge', stored: Fields = FULL) => {
    const { sku, id } = await create(stored);
    const [result, ...others] = await send(
      `match=sku&existing=${existing}`,
      `sku,${header}\r\n${sku},${row}\r\n`,
    );
    expect(others).to.deep.equal([]);
    return { result: result as ResultLine, outcome: outcomes([result])[0], fields: await read(id) };
  };

  describe('the header row', () => {
    const refused = async (query: string, header: string, plural = 'products') => {
      const path = `/v1/${plural}/imports${query}`;
      const response = await service.client.post(path, `${header}\nx\n`, { headers: CSV });
      expect([response.status, response.json.code], header).to.deep.equal([400, 'validation_failed']);
      return response;
    };

    it('needs the column of the key, and no other', async () => {
      for (const [match, header, plural] of [
        ['sku', 'name,price.amount', 'products'],
        ['id', 'name,sku', 'products'],
        ['email', 'name,id', 'users'],
        ['id', 'email,version', 'users'],
      ] as const)
        expect(issueLocations(await refused(`?match=${match}`, header, plural))).to.deep.equal([
          ['required', `/${match}`],
        ]);
      const { sku, id } = await create();
      expect(await send('match=sku', `sku\n${sku}\n`)).to.deep.equal([
        { line: 1, status: 200, id, version: 1, unchanged: true },
      ]);
      expect(outcomes(await send('match=sku', 'sku\nnew-one\n'))).to.deep.equal([
        [400, 'validation_failed', 'required /name'],
      ]);
      expect(outcomes(await send('match=id', 'id\n999999\n'))).to.deep.equal([[404, 'not_found']]);
    });

    it('may have id, version and deleted, in any order', async () => {
      const { sku, id } = await create();
      const csv = `deleted,version,name,id,sku\r\n,1,Torch,${id},${sku}\r\nfalse,,Torch,,${sku}\r\n`;
      expect(await send('match=sku', csv)).to.deep.equal([
        { line: 1, status: 200, id, version: 2 },
        { line: 2, status: 200, id, version: 2, unchanged: true },
      ]);
      const byId = `version,id,deleted\n1,${id},true\n2,${id},true\n2,${id},true\n`;
      const [stale, ...rest] = await send('match=id', byId);
      expect(stale).to.include({ line: 1, status: 412, id, version: 2 });
      expect(rest).to.deep.equal([
        { line: 2, status: 204 },
        { line: 3, status: 204, unchanged: true },
      ]);
    });

    it('says everything that is wrong, with match as without', async () => {
      for (const [query, header, ...issues] of [
        ['', 'name,id', ['read_only_field', '/id']],
        [
          '',
          'version,deleted,createdAt',
          ['read_only_field', '/version'],
          ['unknown_field', '/deleted'],
          ['read_only_field', '/createdAt'],
          ['required', '/name'],
        ],
        ['?dryRun=true', 'name,id', ['read_only_field', '/id']],
        [
          '?match=sku',
          'sku,createdAt,updatedAt,nonsense',
          ['read_only_field', '/createdAt'],
          ['read_only_field', '/updatedAt'],
          ['unknown_field', '/nonsense'],
        ],
        ['?match=id', 'id,id,version,version', ['duplicate_value', '/id'], ['duplicate_value', '/version']],
        ['?match=sku', 'sku,attributes,attributes.a', ['duplicate_value', '/attributes']],
        ['?match=sku', 'sku,attributes.a,attributes[a]', ['duplicate_value', '/attributes[a]']],
        ['?match=sku', 'sku,price.decimal', ['required', '/price.currency']],
        [
          '?match=sku',
          'sku,price.decimal,price.amount,price.currency',
          ['duplicate_value', '/price.decimal'],
        ],
        [
          '?match=id',
          'ID,Version',
          ['unknown_field', '/ID'],
          ['unknown_field', '/Version'],
          ['required', '/id'],
        ],
      ] as const)
        expect(issueLocations(await refused(query, header)), header).to.deep.equal(issues);
      const { json } = await refused('', 'name,id');
      expect(json.details[0].message).to.include('?match=id');
      const absent = await service.client.post('/v1/products/imports?match=sku', '', { headers: CSV });
      expect([absent.status, absent.json.code]).to.deep.equal([400, 'malformed_csv']);
    });

    it('is not there for orders', async () => {
      const response = await service.client.post('/v1/orders/imports?match=id', 'id\n1\n', { headers: CSV });
      expect([response.status, response.json.code]).to.deep.equal([415, 'unsupported_media_type']);
    });
  });

  it('takes an empty cell for not mentioned under merge, and for no value under replace', async () => {
    const header = 'name,description,price.amount,price.currency,attributes.colour';
    const merged = await apply(header, 'Torch,,,,');
    expect([merged.result.version, merged.fields]).to.deep.equal([2, { ...FULL, name: 'Torch' }]);
    const replaced = await apply(header, 'Torch,,,,', 'replace');
    expect([replaced.result.version, replaced.fields]).to.deep.equal([2, { name: 'Torch' }]);
    const nothing = await apply(header, ',,,,');
    expect(nothing.result).to.include({ status: 200, version: 1, unchanged: true });
    const unnamed = await apply(header, ',,,,', 'replace');
    expect(unnamed.outcome).to.deep.equal([400, 'validation_failed', 'required /name']);
    const skipped = await apply(header, ',,x,,', 'skip');
    expect([skipped.result.unchanged, skipped.fields]).to.deep.equal([true, FULL]);
    const half = await apply('price.amount,price.currency', '5,');
    expect(half.fields).to.deep.equal({ ...FULL, price: { amount: 5, currency: 'EUR' } });
    const lacking = await apply('name,price.amount,price.currency', 'x,5,', 'replace');
    expect(lacking.outcome).to.deep.equal([400, 'validation_failed', 'required /price/currency']);
  });

  it('takes "" for an empty text, however records are changed', async () => {
    for (const existing of ['merge', 'replace']) {
      const { fields } = await apply('name,description,attributes.colour', 'Torch,"",""', existing);
      expect(fields).to.deep.include({ name: 'Torch', description: '' });
      expect(fields.attributes.colour).to.equal('');
      const { outcome } = await apply('name', '""', existing);
      expect(outcome).to.deep.equal([400, 'validation_failed', 'too_short /name']);
    }
    expect(outcomes(await send('match=sku', 'sku,name\n"",x\n'))).to.deep.equal([
      [400, 'validation_failed', 'too_short /sku'],
    ]);
    expect(outcomes(await send('match=sku', 'name,sku\nx,\n'))).to.deep.equal([
      [400, 'validation_failed', 'required /sku'],
    ]);
    expect(outcomes(await send('match=id', 'name,id\nx,\nx,1.5\nx,""\nx,a\nx,0\n'))).to.deep.equal([
      [400, 'validation_failed', 'required /id'],
      ...Array(3).fill([400, 'validation_failed', 'invalid_type /id']),
      [400, 'validation_failed', 'out_of_range /id'],
    ]);
  });

  it('reads version and deleted, and reports what they cannot be', async () => {
    for (const [header, cell, outcome] of [
      ['version', '1', 200],
      ['version', '2', [412, 'precondition_failed']],
      ['version', '01', [400, 'validation_failed', 'invalid_type /version']],
      ['version', 'x', [400, 'validation_failed', 'invalid_type /version']],
      ['version', '""', [400, 'validation_failed', 'invalid_type /version']],
      ...list`1.0  1e0  +1`.map((cell) => [
        'version',
        cell,
        [400, 'validation_failed', 'invalid_type /version'],
      ]),
      ['version', '0', [400, 'validation_failed', 'out_of_range /version']],
      ['deleted', 'true', 204],
      ['deleted', '"true"', 204],
      ['deleted', 'false', 200],
      ['deleted', '', 200],
      ['deleted', 'TRUE', 204],
      ['deleted', 'True', 204],
      ['deleted', 'FALSE', 200],
      ['deleted', 'yes', [400, 'validation_failed', 'invalid_type /deleted']],
      ['deleted', '1', [400, 'validation_failed', 'invalid_type /deleted']],
      ['deleted', '""', [400, 'validation_failed', 'invalid_type /deleted']],
      ['version,deleted', '2,true', [412, 'precondition_failed']],
      ['version,deleted', '1,true', 204],
      ['version,deleted', 'x,true', [412, 'precondition_failed']],
      ['name,id,price.amount,deleted', '"",x,x,true', 204],
    ] as [string, string, unknown][])
      expect((await apply(header, cell)).outcome, `${header} ${cell}`).to.deep.equal(outcome);
  });

  it('touches the attribute of a column alone, and keeps its type where the text fits', async () => {
    for (const [header, row, attributes] of [
      ['attributes.watt', '60', { watt: 60 }],
      ['attributes.watt', '61.5', { watt: 61.5 }],
      ['attributes.watt', '6e1', { watt: 60 }],
      ['attributes.on', 'true', { on: true }],
      ['attributes.on', 'false', { on: false }],
      ['attributes.on', 'TRUE', { on: true }],
      ['attributes.on', 'False', { on: false }],
      ['attributes.colour', '5', { colour: '5' }],
      ['attributes.colour', 'true', { colour: 'true' }],
      ['attributes[watt]', '7', { watt: 7 }],
      ['attributes.new', '7', { new: '7' }],
      ['attributes[new]:number', '7', { new: 7 }],
      ['attributes[colour]:number', '7', { colour: 7 }],
      ['attributes[watt]:boolean', 'true', { watt: true }],
    ] as [string, string, Fields][])
      for (const existing of ['merge', 'replace']) {
        const { result, fields } = await apply(`name,${header}`, `Lamp,${row}`, existing);
        const all = { ...FULL.attributes, ...attributes };
        const isSame = existing === 'merge' && JSON.stringify(all) === JSON.stringify(FULL.attributes);
        expect(result.unchanged, `${header} ${row}`).to.equal(isSame ? true : undefined);
        expect(fields, `${header} ${row}`).to.deep.equal(
          existing === 'merge' ? { ...FULL, attributes: all } : { name: 'Lamp', attributes },
        );
      }
    for (const [header, row, issue = 'invalid_type'] of [
      ...list`060  sixty  true  "7,8"  .5  +7.8  0x10  NaN  ""`.map((cell) => ['attributes.watt', cell]),
      ['attributes.watt', '" 7.8"'],
      ['attributes.watt', '1 000'],
      ['attributes[watt]', '7.'],
      ['attributes[watt]:number', 'x'],
      ['attributes.watt', '1e400', 'out_of_range'],
      ['attributes.watt', '9007199254740993', 'out_of_range'],
      ...list`1  yes  "true "`.map((cell) => ['attributes.on', cell]),
      ['attributes.on', '" true"'],
    ] as [string, string, string?][])
      for (const existing of ['merge', 'replace', 'skip']) {
        const { outcome } = await apply(`name,${header}`, `Lamp,${row}`, existing);
        const pointer = `/attributes/${header.includes('watt') ? 'watt' : 'on'}`;
        const refused = [400, 'validation_failed', `${issue} ${pointer}`];
        expect(outcome, `${header} ${row} ${existing}`).to.deep.equal(existing === 'skip' ? 200 : refused);
      }
    const whole = await apply('attributes', '"{""watt"":null,""a"":1}"');
    expect(whole.fields).to.deep.equal({ ...FULL, attributes: { colour: 'red', on: true, a: 1 } });
    const [created] = await send('match=sku', 'sku,name,attributes.watt\nnew-watt,x,60\n');
    expect((await read(created.id)).attributes).to.deep.equal({ watt: '60' });
  });

  it('takes an amount in the major unit beside the stored currency under merge', async () => {
    const header = 'price.decimal,price.currency';
    for (const [row, price] of [
      ['24.99,', { amount: 2499, currency: 'EUR' }],
      ['19.99,', FULL.price],
      ['19.99,EUR', FULL.price],
      ['24.99,USD', { amount: 2499, currency: 'USD' }],
      [',EUR', FULL.price],
      ['1999,JPY', { amount: 1999, currency: 'JPY' }],
      [',', FULL.price],
    ] as [string, Fields][]) {
      const { result, fields } = await apply(header, row);
      expect(fields, row).to.deep.equal({ ...FULL, price });
      const isSame = JSON.stringify(price) === JSON.stringify(FULL.price);
      expect(result.unchanged, row).to.equal(isSame ? true : undefined);
    }
    const yen = await apply(header, '24.99,', 'merge', { ...FULL, price: { amount: 5, currency: 'JPY' } });
    expect(yen.outcome).to.deep.equal([400, 'validation_failed', 'invalid_type /price/decimal']);
    expect(yen.result.error.details[0].message).to.include('JPY');
    const none = { name: 'Lamp' };
    for (const [row, existing, stored, ...issues] of [
      ['24.99,', 'merge', none, 'required /price/currency'],
      [',EUR', 'merge', none, 'required /price/decimal'],
      [',JPY', 'merge', FULL, 'required /price/decimal'],
      [',jpy', 'merge', FULL, 'invalid_format /price/currency', 'required /price/decimal'],
      ['x,', 'merge', FULL, 'invalid_type /price/decimal'],
      ['24.999,', 'merge', FULL, 'invalid_type /price/decimal'],
      ['-1,', 'merge', FULL, 'out_of_range /price/decimal'],
      ['"",', 'merge', FULL, 'invalid_type /price/decimal'],
      ['24.99,eur', 'merge', FULL, 'invalid_format /price/currency'],
      ['24.99,', 'replace', FULL, 'required /price/currency'],
      [',EUR', 'replace', FULL, 'required /price/decimal'],
    ] as const) {
      const { outcome } = await apply(`name,${header}`, `Lamp,${row}`, existing, stored);
      expect(outcome, `${row} ${existing}`).to.deep.equal([400, 'validation_failed', ...issues]);
    }
    for (const columns of ['price.currency,price.amount', 'price.currency']) {
      const [more, missing] = columns.includes('amount')
        ? [',', 'price.amount is required']
        : ['', 'price.amount'];
      const { outcome, result, fields } = await apply(columns, `JPY${more}`);
      expect(outcome, columns).to.deep.equal([400, 'validation_failed', 'required /price/amount']);
      expect(result.error.details[0].message).to.include(missing).and.include('1999 for 19.99 EUR');
      expect(fields).to.deep.equal(FULL);
      expect((await apply(columns, `EUR${more}`)).result.unchanged, columns).to.equal(true);
    }
    const other = await apply('price.currency,price.amount', 'JPY,1250');
    expect(other.fields).to.deep.equal({ ...FULL, price: { amount: 1250, currency: 'JPY' } });
  });

  describe('with empty=clear', () => {
    const DETAILS = { tags: ['a'], images: [{ url: 'https://a' }], stock: 3, status: 'draft', brand: 'B' };
    const STORED = { ...FULL, ...DETAILS };
    const clear = (header: string, row: string, stored: Fields = STORED) =>
      apply(header, row, 'merge&empty=clear', stored);

    for (const [header, row, changes] of [
      [
        'description,stock,brand,status,tags,images',
        ',,,,,',
        {
          description: undefined,
          ...Object.fromEntries(Object.keys(DETAILS).map((name) => [name, undefined])),
        },
      ],
      ['status', '', { status: undefined }],
      ['description', '""', { description: '' }],
      ['attributes', '', { attributes: undefined }],
      ['attributes.watt,attributes[on],attributes.new', ',,', { attributes: { colour: 'red' } }],
      ['attributes[watt]:number,attributes.colour', ',""', { attributes: { on: true, colour: '' } }],
      ['attributes.watt,attributes.on,attributes.colour', ',,', { attributes: undefined }],
      ['price.amount,price.currency', ',', { price: undefined }],
      ['price.decimal,price.currency', ',', { price: undefined }],
      ['price.amount', '', { price: undefined }],
      ['price.currency', '', { price: undefined }],
      ['price.amount', '5', { price: { amount: 5, currency: 'EUR' } }],
      ['price.currency', 'EUR', {}],
      ['price.amount,price.currency', '5,EUR', { price: { amount: 5, currency: 'EUR' } }],
      ['id,version,deleted,,name', ',,,,Lamp', {}],
    ] as [string, string, Fields][])
      it(`an empty cell removes the value: ${header}: ${row}`, async () => {
        const { result, fields } = await clear(header, row);
        expect(result.status, JSON.stringify(result)).to.equal(200);
        expect(result.unchanged).to.equal(Object.keys(changes).length === 0 ? true : undefined);
        expect(fields).to.deep.equal(JSON.parse(JSON.stringify({ ...STORED, ...changes })));
      });

    for (const [header, row, ...issues] of [
      ['name', '', 'required /name'],
      ['price.decimal,price.currency', '5,', 'required /price/currency'],
      ['price.decimal,price.currency', ',EUR', 'required /price/decimal'],
      ['price.currency,price.amount', ',5', 'required /price/currency'],
      ['price.currency,price.amount', 'EUR,', 'required /price/amount'],
      ['price.currency', 'USD', 'required /price/amount'],
      ['stock,name', '1.0,', 'required /name', 'invalid_type /stock'],
    ] as const)
      it(`nothing changes if a value is missing: ${header}: ${row}`, async () => {
        const { outcome, fields } = await clear(header, row);
        expect(outcome).to.deep.equal([400, 'validation_failed', ...issues]);
        expect(fields).to.deep.equal(STORED);
      });

    it('a new record has no value for an empty cell, and the key and what says what a line does stay', async () => {
      const header = 'sku,id,version,deleted,name,description,price.amount,price.currency,attributes.watt';
      const [created, ...refused] = await send(
        'match=sku&empty=clear',
        `${header}\nclear-1,,,,x,,,,\n,,,,x,,,,\nclear-2,,,,,,,,\nclear-3,,,,x,,,EUR,\n`,
      );
      expect(await read(created?.['id'])).to.deep.equal({ name: 'x' });
      expect(outcomes(refused)).to.deep.equal(
        ['sku', 'name', 'price/amount'].map((name) => [400, 'validation_failed', `required /${name}`]),
      );
      const { id } = await create(STORED);
      await send('match=id&empty=clear', `id,sku\n${id},\n`);
      expect((await service.client.get(`/v1/products/${id}`)).json).to.deep.equal({ id, ...STORED });
    });

    it('says nothing under replace and skip, and is keep by default', async () => {
      const row = ['name,description', 'Torch,'] as const;
      expect((await apply(...row, 'replace&empty=clear', STORED)).fields).to.deep.equal({ name: 'Torch' });
      expect((await apply(...row, 'skip&empty=clear', STORED)).fields).to.deep.equal(STORED);
      const [header] = row;
      const kept = { ...STORED, name: 'Torch' };
      expect((await apply(header, 'Torch,', 'merge&empty=keep', STORED)).fields).to.deep.equal(kept);
    });

    it('needs CSV and match', async () => {
      for (const [query, headers, issues] of [
        ['empty=clear', CSV, 1],
        ['empty=keep', CSV, 1],
        ['match=sku&empty=clear', NDJSON, 1],
        ['empty=keep&existing=merge', NDJSON, 3],
        ['match=sku&empty=CLEAR', CSV, 1],
      ] as const) {
        const response = await service.client.post(`/v1/products/imports?${query}`, '', { headers });
        expect([response.status, response.json.code], query).to.deep.equal([400, 'invalid_parameter']);
        expect(issueLocations(response), query).to.have.length(issues);
      }
    });
  });

  const exported = async (query: string) => {
    const { status, text } = await service.client.get(query, { headers: { Accept: 'text/csv' } });
    expect(status, text).to.equal(200);
    return text;
  };

  it('sends an export back: nothing changes, and then only what was changed', async () => {
    const { client } = service;
    const ids: number[] = [];
    for (const fields of [
      FULL,
      { name: 'Chair' },
      { name: 'a, "b"\u2028', description: '', attributes: { watt: '60', colour: '', on: 1e-7 } },
      {
        name: '=1+1',
        description: 'x\r\ny',
        price: { amount: 0, currency: 'JPY' },
        attributes: { watt: -0.5 },
      },
      { name: 'Yes', attributes: { on: 'true', watt: false, colour: 'null' } },
    ])
      ids.push((await create(fields)).id);
    const query = `/v1/products?id.in=${ids.join(',')}`;
    const kept = async () => (await client.get(`${query}&fields=id,version,createdAt,updatedAt`)).text;
    service.clock.pass(1_000);
    for (const fields of [
      'id,version,name,description,sku,price.amount,price.currency,attributes',
      'id,version,name,attributes.watt,attributes.colour,attributes.on',
      'price.decimal,version,price.currency,id',
      'version,id',
    ])
      for (const existing of ['merge', 'skip', ...(fields.includes('attributes,') ? ['replace'] : [])]) {
        const before = await kept();
        const file = await exported(`${query}&fields=${fields}`);
        const results = await send(`match=id&existing=${existing}`, file);
        expect(results, fields).to.deep.equal(
          ids.map((id, n) => ({ line: n + 1, status: 200, id, version: 1, unchanged: true })),
        );
        expect(await kept()).to.equal(before);
      }
    const fields = 'id,version,name,attributes.watt,attributes.colour,attributes.on';
    const file = await exported(`${query}&fields=${fields}`);
    const edited = file.replace(',Lamp,60,', ',Lamp,75,').replace(',Chair,', ',Stool,');
    // Another client changes a third record meanwhile, which the file would change too.
    const stolen = edited.replace(',Yes,false,', ',Yes,true,');
    await client.patch(`/v1/products/${ids[4]}`, { description: 'meanwhile' });
    const results = await send('match=id', stolen);
    expect(results.map(({ status, version }) => [status, version])).to.deep.equal([
      [200, 2],
      [200, 2],
      [200, 1],
      [200, 1],
      [412, 2],
    ]);
    expect(await read(ids[0] ?? 0)).to.deep.equal({ ...FULL, attributes: { ...FULL.attributes, watt: 75 } });
    expect(await read(ids[1] ?? 0)).to.deep.equal({ name: 'Stool' });
    expect(await read(ids[4] ?? 0)).to.deep.include({ name: 'Yes', description: 'meanwhile' });
  });

  it('sends an export of NDJSON back', async () => {
    const { client } = service;
    const { id } = await create();
    const accept = { headers: { Accept: 'application/x-ndjson' } };
    for (const fields of ['', '&fields=id,version,name,price', '&fields=version,id,createdAt,updatedAt,sku'])
      for (const existing of fields === '' ? ['merge', 'replace', 'skip'] : ['merge']) {
        const file = (await client.get(`/v1/products?id=${id}${fields}`, accept)).text;
        const target = `/v1/products/imports?match=id&existing=${existing}`;
        expect(await rehearsedImport(client, { target, body: file })).to.deep.equal([
          { line: 1, status: 200, id, version: 1, unchanged: true },
        ]);
      }
  });

  it('refuses a cell that is no JSON alone, whether it has a record or not', async () => {
    const { sku } = await create();
    for (const query of ['match=sku', 'match=sku&empty=clear', 'match=sku&existing=replace'])
      for (const column of ['images', 'attributes']) {
        const csv = `sku,name,${column}\n${sku},Lamp,x\nno-${sku},x,{\n${sku},Lamp,\n`;
        const malformed = [400, 'malformed_json', `invalid_format /${column}`];
        expect(outcomes(await send(query, csv)), query).to.deep.equal([malformed, malformed, 200]);
      }
  });

  it('finds users by their e-mail address in any case', async () => {
    const csv = 'email,name\nAnn@Example.com,Ann\nANN@example.COM,Bob\nann@EXAMPLE.com,\n,x\nnobody,x\n';
    const results = await send('match=email', csv, 'users');
    const { id } = results[0];
    expect(outcomes(results)).to.deep.equal([
      201,
      200,
      200,
      [400, 'validation_failed', 'required /email'],
      [400, 'validation_failed', 'invalid_format /email'],
    ]);
    expect((await service.client.get(`/v1/users/${id}`)).json).to.deep.equal({
      id,
      name: 'Bob',
      email: 'Ann@Example.com',
    });
    for (const [target, body, headers] of [
      ['/v1/users/imports?match=email', 'email,name\nANN@EXAMPLE.COM,Bob\n', CSV],
      ['/v1/users/imports?match=email', '{"email":"ANN@EXAMPLE.COM","name":"Bob"}\n', NDJSON],
      ['/v1/users/imports?match=email&empty=clear', 'email,name\nANN@EXAMPLE.COM,Bob\n', CSV],
    ] as const)
      expect(await rehearsedImport(service.client, { target, body, headers }), target).to.deep.equal([
        { line: 1, status: 200, id, version: 2, unchanged: true },
      ]);
    const [replaced] = await send(
      'match=email&existing=replace',
      'email,name\nANN@example.com,Bob\n',
      'users',
    );
    expect(replaced).to.deep.equal({ line: 1, status: 200, id, version: 3 });
    expect((await service.client.get(`/v1/users/${id}`)).json.email).to.equal('ANN@example.com');
    const [cleared] = await send('match=id&empty=clear', `id,email\n${id},\n`, 'users');
    expect(outcomes([cleared])).to.deep.equal([[400, 'validation_failed', 'required /email']]);
  });

  it('reports a malformed record in its own result, and goes on', async () => {
    const { sku, id } = await create();
    const results = await send(
      'match=sku',
      `sku,name\n${sku}\n${sku},a,b\n"${sku}"x,a\n${sku},New\n"${sku},a\n`,
    );
    expect(results.map(({ status, error }) => [status, error?.code])).to.deep.equal([
      ...Array(3).fill([400, 'malformed_csv']),
      [200, undefined],
      [400, 'malformed_csv'],
    ]);
    expect(await read(id)).to.deep.include({ name: 'New' });
  });
});
