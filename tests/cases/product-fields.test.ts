import { expect } from 'chai';
import { LOCAL_STORE_NAMES } from '../stores/index.js';
import { inProcessService } from '../support/in-process-service.js';
import { BAD_RECORDS } from '../support/invalid-values.js';
import { list } from '../support/list.js';
import { inParallel } from '../support/parallel-limits.js';
import { AT_NIGHT } from '../support/run-settings.js';
import { RoundTrips } from './random-values/round-trips.js';
import { waysToSend } from './random-values/ways-to-send.js';

const text = (value: string) => JSON.stringify(value);
const many = (count: number, of: (at: number) => string) =>
  `[${Array.from({ length: count }, (_, at) => of(at)).join()}]`;
const LONGEST_URL = `https://a/${'b'.repeat(2_038)}`;

/** Absolute http and https URLs by the grammar of RFC 3986. */
const URLS = [
  ...list`http://a  HTTPS://EXAMPLE.COM  hTtPs://a  https://example.com/  https://example.com./  https://localhost`,
  ...list`https://a:8443  https://a:  https://a:/b  https://a:65536  https://127.0.0.1  https://999.1.1.1  http://1`,
  ...list`http://[::1]  http://[::1]:80/a  https://[2001:DB8::7]/  https://[::ffff:192.0.2.1]?a`,
  ...list`https://xn--bcher-kva.example  https://b%C3%BCcher.example  https://a_b.c  https://-  https://!$&'()*+,;=._~-`,
  ...list`https://a?  https://a?b  https://a?b=c&d=%7C/?:@  https://a#  https://a#b/?c  https://a/?#  https://a?b#c`,
  ...list`https://a//b/../c/./  https://a/@:b  https://a/b;c=d,e  https://a/%00%20%ff  https://a/!$&'()*+,;=._~-`,
  LONGEST_URL,
];

/** Values of each field that are stored as they are sent. */
const VALID: Readonly<Record<string, readonly string[]>> = {
  status: list`"draft"  "archived"  "\u0064raft"`,
  tags: [
    ...list`["a"]  ["lighting/lamps"]  ["/"]  ["//a//"]  ["a","A"]  ["é","e\u0301"]  ["\u200b"]  [" a "]  ["a b"]`,
    ...list`["null"]  ["a;b","a:b","a.b"]  ["$ne"]  ["=1+1"]  ["\"","'"]  ["\\"]  ["\u00a0a"]  ["\u0080"]  ["1","01"]`,
    `[${text('x'.repeat(64))}]`,
    `[${text('😀'.repeat(64))}]`,
    `["b",${text('é'.repeat(64))},"a"]`,
    many(50, (at) => text(`${at}`.padStart(64, '/'))),
  ],
  images: [
    ...list`[{"url":"https://a"}]  [{"url":"https://a","alt":""}]  [{"alt":"x","url":"http://[::1]/?a"}]`,
    ...list`[{"url":"https://a"},{"url":"https://A"},{"url":"https://a/"},{"url":"http://a"}]`,
    `[{"url":"https://a","alt":${text('😀'.repeat(500))}}]`,
    `[{"url":"https://a","alt":"a,b|c\\u2028 \\u0080"}]`,
    many(20, (at) => `{"url":${text(`${LONGEST_URL.slice(0, -2)}${10 + at}`)},"alt":"same"}`),
  ],
  url: URLS.map(text),
  brand: [
    ...list`"a"  " a "  "Lumen & Co"  "光 Hikari"  "a,b|c"  "\u200b"  "\u0080"`,
    text('😀'.repeat(200)),
    text(`${' '.repeat(199)}x`),
  ],
  gtin: [
    ...list`00000000  96385074  12345670  036000291452  000000000000  4006381333931  0036000291452  0000000000000`,
    ...list`10012345678902  00012345678905  00000000000000  99999999999997`,
  ].map(text),
  group: [...list`"a"  "A"  "0"  "."  "-"  "_"  "A-Z.a_z"`, text('g'.repeat(64))],
  stock: list`0  -0  1  1e2  100.0  9007199254740991  9.007199254740991e15`,
};

/** What the message of each field says, whatever is wrong with it. */
const RULES: Readonly<Record<string, string>> = {
  '/status': 'one of draft, archived',
  '/tags':
    'an array of 0 to 50, each at most 64 characters, not only white space, no control character, comma, | or lone surrogate, no two the same',
  '/tags/N': 'at most 64 characters, not only white space, no control character, comma, | or lone surrogate',
  '/images': 'an array of 0 to 20, each an object with url, alt, no two with the same url',
  '/images/N': 'an object with url, alt',
  '/images/N/url': 'at most 2048 characters of ASCII, an absolute http or https URL without user information',
  '/images/N/alt': 'at most 500 characters, no control character or lone surrogate',
  '/url': 'at most 2048 characters of ASCII, an absolute http or https URL without user information',
  '/brand': 'at most 200 characters, not only white space, no control character or lone surrogate',
  '/gtin': 'a string of 8, 12, 13 or 14 digits, the last of which is the check digit',
  '/group': 'at most 64 of A-Z a-z 0-9 . _ -',
  '/stock': 'an integer from 0, in pieces, at most 9007199254740991',
};

const LANES = 8;

for (const [place, store] of LOCAL_STORE_NAMES.entries())
  describe(`valid details of products on ${store}`, () => {
    const service = inProcessService({ STORE: store });
    const trips = new RoundTrips(() => service.client, store);

    // In the gate each field has one store, in turn: every store has random values in `random-values`.
    for (const [at, [member, values]] of Object.entries(VALID).entries()) {
      if (!AT_NIGHT && at % LOCAL_STORE_NAMES.length !== place) continue;
      it(`of the field ${member} come back unchanged, however they are written and read`, async () => {
        // So many records that each way to write gets one; in the gate one of these values or the next.
        const records = values.flatMap((json) => Array(AT_NIGHT ? 20 : 10).fill({ name: '"x"', [member]: json }));
        await trips.run('products', records);
        expect(trips.changes.slice(0, 5), `${trips.changes.length} changes`).to.deep.equal([]);
        expect(trips.serverErrors).to.equal(0);
      });
    }
  });

describe('invalid details of products', () => {
  const service = inProcessService({ STORE: 'sqlite' });
  const [products] = BAD_RECORDS;

  before(async () => {
    await service.client.post('/v1/products', { name: 'Lamp' });
  });

  for (const member of Object.keys(VALID))
    it(`of the field ${member} are refused with their issues and the rule, however they are sent`, async () => {
      const values = products.values.filter((value) => value.member === member);
      expect(values.length).to.be.greaterThan(10);
      await inParallel(LANES, values, async (value, at) => {
        const all = waysToSend(products, value);
        expect(all.length).to.be.greaterThan(3);
        // In the gate each value is created, and sent in one more way, in turn.
        const ways = AT_NIGHT ? all : all.filter((_, place) => place === 0 || place === 1 + (at % (all.length - 1)));
        for (const [way, request, issues] of ways) {
          const what = `${way} ${value.json.slice(0, 60)}`;
          const { status, text } = await request(service.client, '/v1/products');
          const isImport = way === 'NDJSON' || way === 'CSV';
          const { code, details } = isImport ? JSON.parse(text).error : JSON.parse(text);
          expect([isImport ? JSON.parse(text).status : status, code], what).to.deep.equal([400, 'validation_failed']);
          const found = details.map((one: { code: string; pointer: string }) => [one.code, one.pointer]);
          expect(found, what).to.deep.equal(issues);
          for (const detail of details) {
            const rule = RULES[detail.pointer.replace(/\d+/, 'N')];
            if (!['duplicate_value', 'unknown_field'].includes(detail.code))
              expect(detail.message, what).to.include(rule);
          }
        }
      });
      expect((await service.client.get('/v1/products?fields=id,version')).json).to.deep.equal([{ id: 1, version: 1 }]);
    });

  it('include every other digit at any place of a GTIN, since each changes the sum', async () => {
    const wrong = VALID['gtin']?.flatMap((json) => {
      const digits = [...JSON.parse(json)];
      return digits.flatMap((digit, at) =>
        [1, 2, 5, 9].map((more) => digits.with(at, String((Number(digit) + more) % 10)).join('')),
      );
    });
    const lines = (wrong ?? []).map((gtin) => `${JSON.stringify({ name: 'x', gtin })}\n`).join('');
    const headers = { 'Content-Type': 'application/x-ndjson' };
    const { text } = await service.client.post('/v1/products/imports', lines, { headers });
    const results = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(results)
      .to.have.length(wrong?.length ?? 0)
      .above(500);
    for (const { line, status, error } of results)
      expect([status, error?.details[0].pointer], wrong?.[line - 1]).to.deep.equal([400, '/gtin']);
  });
});
