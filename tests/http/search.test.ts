import { expect } from 'chai';
import { expectIssues } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { cursorIn, linksOf } from '../support/links.js';

const PRODUCTS = [
  { name: 'Green Lamp', sku: 'GL-100', price: { amount: 900, currency: 'EUR' } },
  { name: 'Lamp shade', description: 'Fits the green lamp.', attributes: { colour: 'Café crème', watts: 60 } },
  { name: 'Desk', sku: 'D.200', price: { amount: 100, currency: 'USD' }, attributes: { note: 'oak/steel' } },
  { name: 'ΟΔΟΣ', description: 'Straße, İstanbul; Ёлка' },
  { name: '東京タワーの置物', sku: 'T_1' },
  { name: '① ﬁne ½ cup' },
  { name: 'हिन्दी किताब' },
  { name: `${'w'.repeat(70)} end` },
  { name: 'Đèn Łódź', description: 'Smørrebrød', attributes: { note: 'STRAẞE ıŋħŧðþœÆ' } },
  {
    name: 'Bench',
    status: 'archived',
    tags: ['seating/benches', 'Été'],
    images: [{ url: 'https://picture.example/seen', alt: 'What it shows' }],
    url: 'https://page.example',
    brand: 'Ålund & Söhne',
    gtin: '4006381333931',
    group: 'BN-42',
    stock: 777,
  },
] as const;

describe('a search by words', () => {
  const service = inProcessService();
  const get = (path: string, headers = {}) => service.get(path, { headers });
  const search = async (q: string, more = '') => {
    const response = await get(`/v1/products?q=${encodeURIComponent(q)}${more}`);
    expect(response.status, response.text).to.equal(200);
    return response.json.map(({ id }: { id: number }) => id);
  };

  before(async () => {
    for (const product of PRODUCTS) expect((await service.post('/v1/products', product)).status).to.equal(201);
    for (const [name, email] of [
      ['Ann Lamp', 'ann@example.org'],
      ['Zoë', 'z.oe+shop@green-lamp.example'],
    ])
      expect((await service.post('/v1/users', { name, email })).status).to.equal(201);
  });

  // The query property and the tests of the tokenizer have what a search finds in any text.
  it('finds the words of every searched field, and of no other', async () => {
    for (const [q, ids] of [
      ['GRE LAM shade', [2]],
      ['amp', []],
      ['gl-100', [1]],
      ['CAFÉ', [2]],
      ['steel oak', [3]],
      ['colour', []],
      ['60', []],
      ['900', []],
      ['eur', []],
      ['οδος', [4]],
      ['strasse', [4, 9]],
      ['SMORREBROD', [9]],
      ['inhtdthoeae', [9]],
      ['京タワ', [5]],
      ['1 fine', [6]],
      ['कि', [7]],
      [`${'w'.repeat(10)} end`, [8]],
      ['green\u00a0\t\n+%_*"\'lamp', [1, 2]],
      ['.* lamp $ne', []],
      ['benches ete', [10]],
      ['alund sohne', [10]],
      ['40063 ben', [10]],
      ['bn 42 ålund', [10]],
      ...['archived', 'https', 'picture', 'seen', 'shows', 'page', '777'].map((q) => [q, []] as const),
    ] as const)
      expect(await search(q), q).to.deep.equal(ids);
  });

  it('finds users by name and e-mail address', async () => {
    for (const [q, ids] of Object.entries({ ann: [1], lamp: [1, 2], zoe: [2], 'shop green': [2], nn: [] })) {
      const { status, json } = await get(`/users?q=${q.replace(' ', '+')}`);
      expect([status, json.map(({ id }: { id: number }) => id)], q).to.deep.equal([200, ids]);
    }
  });

  it('finds what records say now', async () => {
    const { id } = (await service.post('/v1/products', { name: 'Zebra' })).json;
    expect(await search('zebra')).to.deep.equal([id]);
    await service.patch(`/v1/products/${id}`, { name: 'Okapi', attributes: { kin: 'Giraffe' } });
    expect([await search('zebra'), await search('okapi gir')]).to.deep.equal([[], [id]]);
    await service.delete(`/v1/products/${id}`);
    expect(await search('okapi')).to.deep.equal([]);
  });

  it('is paged by links that keep it', async () => {
    const one = await get(`/v1/products?q=${encodeURIComponent('gre lamp+&')}&limit=1`);
    expect(one.json.map(({ id }: { id: number }) => id)).to.deep.equal([1]);
    const { next, first } = linksOf(one.headers['link']);
    for (const link of [next, first]) expect(new URLSearchParams(link?.split('?')[1]).get('q')).to.equal('gre lamp+&');
    const two = await get(next ?? '');
    expect(two.json.map(({ id }: { id: number }) => id)).to.deep.equal([2]);
    const links = linksOf(two.headers['link']);
    expect(links).to.have.all.keys('first', 'prev', 'monitor');
    expect((await get(links['prev'] ?? '')).json).to.deep.equal(one.json);
  });

  it('has cursors that hold for the same words alone', async () => {
    const { headers } = await get('/v1/products?q=gre+lamp&limit=1');
    const cursor = cursorIn(linksOf(headers['link'])['next']);
    const follow = (query: string) => get(`/v1/products?${query}limit=1&cursor=${cursor}`);
    for (const other of ['q=gre&', 'q=gre+lamp+shade&', '', 'name=gre+lamp&'])
      expect((await follow(other)).json.code, other).to.equal('cursor_mismatch');
    for (const same of ['q=gre+lamp&', 'q=LAMP,Gr%C3%A9&', 'q=gre+lamp+la&'])
      expect((await follow(same)).json, same).to.have.length(1);
  });

  it('takes 10 words of 64 characters, counted after normalising', async () => {
    const ten = Array.from({ length: 10 }, (_, i) => `${'x'.repeat(63)}${i}`).join(' ');
    expect(await search(ten)).to.deep.equal([]);
    // 128 characters before, 64 after.
    expect(await search('e\u0301'.repeat(64))).to.deep.equal([]);
    expect(await search('\u{1d54f}'.repeat(64))).to.deep.equal([]);
    expect(await search('\u{20000}'.repeat(64))).to.deep.equal([]);
    expect(await search('ẞ'.repeat(32))).to.deep.equal([]);
  });

  describe('is rejected', () => {
    const WORD_65 = 'x'.repeat(65);
    it('without a word, with too many or too long ones, and if it is no text or is given twice', async () => {
      const encoded = (text: string) => `q=${encodeURIComponent(text)}`;
      for (const [raw, ...codes] of [
        ['q', 'too_short'],
        ['q=', 'too_short'],
        ['q=+%20%09%C2%A0%E3%80%80', 'invalid_format'],
        [encoded('?!._-+*/\\"%$<>(){}[]|~´·—…“”🔥'), 'invalid_format'],
        // A mark that no character carries, and a control character.
        ['q=%CC%81', 'invalid_format'],
        ['q=%00', 'invalid_format'],
        [`q=${'a+'.repeat(11)}`, 'too_long'],
        [encoded('a東b東c東d東e東f'), 'too_long'],
        [`q=${WORD_65}`, 'too_long'],
        [encoded('\u{20000}'.repeat(65)), 'too_long'],
        [encoded(`${'x'.repeat(63)}ﬁ`), 'too_long'],
        [encoded('æ'.repeat(33)), 'too_long'],
        [`q=a+b+c+d+e+f+g+h+i+j+${WORD_65}`, 'too_long', 'too_long'],
        ['q=%ff', 'invalid_format'],
        ['q=%ed%a0%80lamp', 'invalid_format'],
        ['q=100%', 'invalid_format'],
        ['q=lamp&%71=desk', 'duplicate_value'],
      ] as const)
        await expectIssues(
          get(`/v1/products?${raw}`),
          'invalid_parameter',
          codes.map((code) => `${code} q`),
          raw,
        );
    });

    it('under another name, and where nothing is searched', async () => {
      for (const name of ['Q', 'q.ne', 'q:ne', 'q.in', 'q.exists', 'q.', 'search', 'q[]'])
        expect((await get(`/v1/products?${name}=lamp`)).json.code, name).to.equal('unknown_parameter');
      for (const path of ['/v1/orders', '/v1/api-keys', '/v1/products/1'])
        await expectIssues(get(`${path}?q=lamp`), 'unknown_parameter', ['unknown_parameter q']);
    });
  });
});
