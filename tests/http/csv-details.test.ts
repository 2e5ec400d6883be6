import { expect } from 'chai';
import { issueLocations } from '../support/http-client.js';
import { CSV, outcomes, rehearsedImport, resultsOf } from '../support/imports.js';
import { inProcessService } from '../support/in-process-service.js';
import { list } from '../support/list.js';

const COLUMNS =
  'id,name,description,sku,price.amount,price.currency,attributes,status,tags,images,url,brand,gtin,group,stock';
const FULL = {
  name: 'Lamp',
  status: 'draft',
  tags: ['lighting/lamps', ' "new" ', '=1+1'],
  images: [{ url: 'https://a/1.jpg', alt: 'a "b", c' }, { url: 'https://a/2.jpg' }],
  url: 'https://a/?b=c,d',
  brand: 'Lumen, Co',
  gtin: '0036000291452',
  group: 'L-1',
  stock: 12,
};
const CELLS = {
  status: 'draft',
  tags: '"lighting/lamps| ""new"" |=1+1"',
  images: '"[{""url"":""https://a/1.jpg"",""alt"":""a \\""b\\"", c""},{""url"":""https://a/2.jpg""}]"',
  url: '"https://a/?b=c,d"',
  brand: '"Lumen, Co"',
  gtin: '0036000291452',
  group: 'L-1',
  stock: '12',
};
type Fields = Readonly<Record<string, unknown>>;

describe('the details of products in CSV', () => {
  const service = inProcessService({ STORE: 'sqlite' });
  const create = async (fields: Fields) => {
    const { status, text, json } = await service.client.post('/v1/products', fields);
    expect(status, text).to.equal(201);
    return json.id as number;
  };
  const fieldsOf = async (id: number): Promise<Fields> => {
    const { id: _id, ...fields } = (await service.client.get(`/v1/products/${id}`)).json;
    return fields;
  };
  const exported = async (query: string) => {
    const { status, text } = await service.client.get(`/v1/products?${query}`, {
      headers: { Accept: 'text/csv' },
    });
    expect(status, text).to.equal(200);
    return text;
  };
  const sent = async (csv: string) =>
    resultsOf(await service.client.post('/v1/products/imports', csv, { headers: CSV }));

  it('stand in columns in their order, tags with bars between them and images as JSON', async () => {
    const ids = [await create(FULL), await create({ name: 'x' }), await create({ name: 'y', stock: 0 })];
    expect(await exported(`id.in=${ids.join()}`)).to.equal(
      [
        COLUMNS,
        `${ids[0]},Lamp,,,,,,${Object.values(CELLS).join()}`,
        `${ids[1]},x${','.repeat(13)}`,
        `${ids[2]},y${','.repeat(13)}0`,
        '',
      ].join('\r\n'),
    );
    expect(await exported(`id=${ids[0]}&fields=stock,images,tags,id`)).to.equal(
      `stock,images,tags,id\r\n12,${CELLS.images},${CELLS.tags},${ids[0]}\r\n`,
    );
    for (const name of ['tags.0', 'images.url', 'url.x', 'tag']) {
      const response = await service.client.get(`/v1/products?fields=${name}`, {
        headers: { Accept: 'text/csv' },
      });
      expect([response.status, issueLocations(response)], name).to.deep.equal([
        400,
        [['unknown_field', 'fields']],
      ]);
    }
  });

  it('have line ends of Unicode escaped in JSON, and in quotes in text', async () => {
    const images = [{ url: 'https://a', alt: 'a\u2028\u2029\u0085' }];
    const id = await create({ name: 'ends', tags: ['a\u2028', 'b\u0085'], images });
    expect(await exported(`id=${id}&fields=tags,images`)).to.equal(
      'tags,images\r\n"a\u2028|b\u0085","[{""url"":""https://a"",""alt"":""a\\u2028\\u2029\\u0085""}]"\r\n',
    );
  });

  it('are imported from any order of the columns', async () => {
    const names = Object.keys(CELLS).reverse() as (keyof typeof CELLS)[];
    const [result, ...others] = await sent(
      `${names.join()},name\n${names.map((name) => CELLS[name]).join()},Lamp\n`,
    );
    expect(others).to.deep.equal([]);
    expect(await fieldsOf(result.id)).to.deep.equal({ ...FULL, tags: ['lighting/lamps', '"new"', '=1+1'] });
  });

  for (const [column, cell, value, ...more] of [
    ['tags', 'a', ['a']],
    ['tags', 'a|b', ['a', 'b']],
    ['tags', ' a |\t b\u00a0| c d', ['a', 'b', 'c d']],
    ['tags', '"\u2003a|b\ufeff"', ['\u2003a', 'b\ufeff']],
    ['tags', '"a|""b"""', ['a', '"b"']],
    ['tags', 'é|e\u0301', ['é', 'e\u0301']],
    ['tags', '1|true', ['1', 'true']],
    ['tags', '', undefined],
    ['tags', '""', undefined],
    ['tags', '"a,b"', 'invalid_format /tags/0'],
    ['tags', 'a||b', 'too_short /tags/1'],
    ['tags', 'a|', 'too_short /tags/1'],
    ['tags', 'a| ', 'too_short /tags/1'],
    ['tags', ' ', 'too_short /tags/0'],
    ['tags', '"cotton, summer|x"', 'invalid_format /tags/0'],
    ['tags', 'a | a', 'duplicate_value /tags/1'],
    ['tags', 'a|b|a', 'duplicate_value /tags/2'],
    ['tags', '"a\nb"', 'invalid_format /tags/0'],
    ['tags', Array.from({ length: 51 }, (_, at) => at).join('|'), 'too_long /tags'],
    ['images', '"[{""url"":""https://a""}]"', [{ url: 'https://a' }]],
    ['images', '"[{""alt"":null,""url"":""https://a""}]"', [{ url: 'https://a' }]],
    ['images', 'https://a', [{ url: 'https://a' }]],
    ['images', '"HTTP://a/?b=c,d|https://b"', [{ url: 'HTTP://a/?b=c,d' }, { url: 'https://b' }]],
    ['images', 'https://a|b.jpg', 'invalid_format /images/1/url'],
    ['images', 'https://a | https://b', 'invalid_format /images/0/url', 'invalid_format /images/1/url'],
    ['images', 'https://a|', 'too_short /images/1/url'],
    ['images', 'ftp://a', 'invalid_format /images/0/url'],
    ['images', 'https://a|https://a', 'duplicate_value /images/1/url'],
    ['images', '[]', undefined],
    ['images', '', undefined],
    ['images', '{}', 'invalid_type /images'],
    ['images', '5', 'invalid_type /images'],
    ['images', '"[{""url"":""a.jpg""}]"', 'invalid_format /images/0/url'],
    ['images', '"[{""alt"":""x""}]"', 'required /images/0/url'],
    ['status', 'archived', 'archived'],
    ['status', '', undefined],
    ['status', '""', 'too_short /status'],
    ['status', 'Live', 'invalid_format /status'],
    ['status', 'draft ', 'invalid_format /status'],
    ['url', 'https://a', 'https://a'],
    ['url', 'a', 'invalid_format /url'],
    ['url', '""', 'too_short /url'],
    ['brand', ' a ', ' a '],
    ['brand', ' ', 'invalid_format /brand'],
    ['gtin', '00000000', '00000000'],
    ['gtin', '"4006381333931"', '4006381333931'],
    ['gtin', '4.00638E+12', 'invalid_format /gtin'],
    ['gtin', '36000291452', 'invalid_format /gtin'],
    ['status', 'live', undefined],
    ['group', 'L', 'L'],
    ['group', 'a b', 'invalid_format /group'],
    ['stock', '0', 0],
    ['stock', '-0', 0],
    ['stock', '9007199254740991', 2 ** 53 - 1],
    ['stock', '', undefined],
    ['stock', '""', 'invalid_type /stock'],
    ['stock', '012', 'invalid_type /stock'],
    ...list`1.000  "1,000"  +5  1e3  1.0  1.5  1_000  0x10  NaN  ٣  --1`.map((cell) => [
      'stock',
      cell,
      'invalid_type /stock',
    ]),
    ['stock', '1 000', 'invalid_type /stock'],
    ['stock', ' 1', 'invalid_type /stock'],
    ['stock', '-1', 'out_of_range /stock'],
    ['stock', '9007199254740992', 'out_of_range /stock'],
  ] as [string, string, unknown, ...string[]][])
    it(`in the column ${column}: ${JSON.stringify(cell.slice(0, 40))}`, async () => {
      const [result] = await sent(`name,${column}\nx,${cell}\n`);
      if (typeof value === 'string' && value.includes(' /'))
        expect(outcomes([result])).to.deep.equal([[400, 'validation_failed', value, ...more]]);
      else
        expect(await fieldsOf(result.id)).to.deep.equal({
          name: 'x',
          ...(value !== undefined && { [column]: value }),
        });
    });

  it('are JSON by the rules of bodies in the column images', async () => {
    for (const cell of [
      'x',
      '[',
      '""',
      '"[{""url"":""https://a"",""url"":""https://b""}]"',
      '"[{""__proto__"":1}]"',
    ]) {
      const [result] = await sent(`name,images\nx,${cell}\n`);
      expect(outcomes([result]), cell).to.deep.equal([[400, 'malformed_json', 'invalid_format /images']]);
      expect(result.error.message).to.match(/^The cell in the column images /);
      expect(result.error.details[0].message).to.include('must be JSON or URLs joined by |');
    }
  });

  it('have messages that show how a cell is written', async () => {
    const [{ error }] = await sent('name,tags,stock\nx,"cotton, summer",1.000\n');
    const messages = error.details.map(({ message }: Fields) => message);
    expect(messages).to.deep.equal([
      'tags.0 must be at most 64 characters, not only white space, no control character, comma, | or lone surrogate. In a cell | separates them: cotton|summer.',
      'stock must be an integer from 0, in pieces, at most 9007199254740991. Write only digits, such as 1000: no point, comma or exponent.',
    ]);
  });

  it('have a column each in a header row, and no other', async () => {
    for (const [column, code] of [
      ['tags,tags', 'duplicate_value'],
      ['tags.0', 'unknown_field'],
      ['images.url', 'unknown_field'],
      ['images[0]', 'unknown_field'],
      ['tags[]', 'unknown_field'],
      ['stock:number', 'unknown_field'],
      ['Tags', 'unknown_field'],
    ] as const) {
      const response = await service.client.post('/v1/products/imports', `name,${column}\nx,\n`, {
        headers: CSV,
      });
      expect(response.status, column).to.equal(400);
      expect(issueLocations(response), column).to.deep.equal([[code, `/${column.split(',').at(-1)}`]]);
    }
  });

  describe('with match', () => {
    let count = 0;
    const apply = async (header: string, row: string, existing = 'merge', stored: Fields = FULL) => {
      const sku = `D-${++count}`;
      const id = await create({ ...stored, sku });
      const body = `sku,${header}\n${sku},${row}\n`;
      const target = `/v1/products/imports?match=sku&existing=${existing}`;
      const [result] = await rehearsedImport(service.client, { target, body, headers: CSV });
      const { sku: _sku, ...fields } = await fieldsOf(id);
      return { result, fields };
    };

    for (const [header, row, changes] of [
      ['tags', 'sale', { tags: ['sale'] }],
      ['tags', '" ""new"" |sale"', { tags: ['"new"', 'sale'] }],
      ['tags', CELLS.tags, {}],
      ['tags', '', {}],
      ['tags', '""', { tags: undefined }],
      ['images', '"[{""url"":""https://b""}]"', { images: [{ url: 'https://b' }] }],
      ['images', CELLS.images, {}],
      ['images', 'https://a/1.jpg|https://a/2.jpg', {}],
      [
        'images',
        'https://b|https://a/1.jpg',
        { images: [{ url: 'https://b' }, { url: 'https://a/1.jpg', alt: 'a "b", c' }] },
      ],
      [
        'images',
        '"[ {""alt"":""a \\""b\\"", c"", ""url"":""https://a/1.jpg""}, {""url"":""https://a/2.jpg""} ]"',
        {},
      ],
      ['images', '', {}],
      ['images', '[]', { images: undefined }],
      ['status', 'archived', { status: 'archived' }],
      ['status', '', {}],
      ['stock', '0', { stock: 0 }],
      ['stock', '12', {}],
      ['gtin,group', '96385074,', { gtin: '96385074' }],
      ['gtin', '00036000291452', {}],
      ['gtin', '036000291452', {}],
      ['url,brand', 'https://b,Halden', { url: 'https://b', brand: 'Halden' }],
      [Object.keys(CELLS).join(), Object.values(CELLS).join(), {}],
    ] as [string, string, Fields][])
      it(`and merge, ${header}: ${JSON.stringify(row.slice(0, 40))} ${Object.keys(changes).length > 0 ? 'changes this field alone' : 'changes nothing'}`, async () => {
        const { result, fields } = await apply(header, row);
        const isSame = Object.keys(changes).length === 0;
        expect(result, JSON.stringify(result)).to.include({ status: 200, version: isSame ? 1 : 2 });
        expect(result.unchanged).to.equal(isSame ? true : undefined);
        expect(fields).to.deep.equal(JSON.parse(JSON.stringify({ ...FULL, ...changes })));
      });

    it('and replace, an empty cell is no value', async () => {
      const { fields } = await apply('name,tags,stock,images', 'Torch,sale,,', 'replace');
      expect(fields).to.deep.equal({ name: 'Torch', tags: ['sale'] });
      const header = `name,${Object.keys(CELLS).join()}`;
      const pictures = await apply('name,images', 'Lamp,https://a/1.jpg', 'replace');
      expect(pictures.fields['images']).to.deep.equal([{ url: 'https://a/1.jpg', alt: 'a "b", c' }]);
      const same = await apply(header, `Lamp,${Object.values(CELLS).join()}`, 'replace');
      expect([same.result.unchanged, same.fields]).to.deep.equal([true, FULL]);
    });

    it('are validated in the record that they give', async () => {
      const lost = await apply('gtin', '36000291452');
      expect(outcomes([lost.result])).to.deep.equal([[400, 'validation_failed', 'invalid_format /gtin']]);
      const other = await apply('name,gtin', 'Lamp,036000291452', 'replace');
      expect(other.fields).to.deep.equal({ name: 'Lamp', gtin: '036000291452' });
      const { result } = await apply('tags,stock,gtin', 'a|a,x,1');
      expect(outcomes([result])).to.deep.equal([
        [400, 'validation_failed', 'duplicate_value /tags/1', 'invalid_format /gtin', 'invalid_type /stock'],
      ]);
    });
  });

  it('as lines of NDJSON replace lists as a whole under merge', async () => {
    const id = await create({ ...FULL, sku: 'LINES' });
    const target = '/v1/products/imports?match=id';
    const merge = async (line: Fields) => {
      const [result] = await rehearsedImport(service.client, {
        target,
        body: JSON.stringify({ id, ...line }),
      });
      return [result.version, result.unchanged, (await fieldsOf(id))['tags']];
    };
    expect(await merge({ tags: ['sale'] })).to.deep.equal([2, undefined, ['sale']]);
    expect(await merge({ tags: ['sale'] })).to.deep.equal([2, true, ['sale']]);
    expect(await merge({ stock: 12 })).to.deep.equal([2, true, ['sale']]);
    expect(await merge({ tags: null })).to.deep.equal([3, undefined, undefined]);
    expect(await merge({ tags: [] })).to.deep.equal([3, true, undefined]);
  });
});
