import { expect } from 'chai';
import { PRODUCTS } from '#src/adapters/inbound/http/resources/definitions.js';
import { newDraft } from '#src/application/records/record-format.js';
import { LOCAL_STORE_NAMES } from '../stores/index.js';
import { inProcessService } from '../support/in-process-service.js';
import { list } from '../support/list.js';
import { AT_NIGHT } from '../support/run-settings.js';
import { RoundTrips } from './random-values/round-trips.js';

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

describe('a GTIN', () => {
  it('has no other digit at any place, since each changes the sum', () => {
    for (const gtin of VALID['gtin']?.map((json) => JSON.parse(json)) ?? [])
      for (const [at, digit] of [...gtin].entries())
        for (const more of [1, 2, 5, 9]) {
          const wrong = [...gtin].with(at, (Number(digit) + more) % 10).join('');
          const { issues } = newDraft(PRODUCTS, { name: 'x', gtin: wrong });
          const pointers = issues.map(({ pointer }) => pointer);
          expect(pointers, wrong).to.deep.equal(['/gtin']);
        }
  });
});

/** What the message of each field says, whatever is wrong with it. */
const RULES: Readonly<Record<string, string>> = {
  '/status': 'one of draft, archived',
  '/tags':
    'an array of 0 to 50, each at most 64 characters, not only white space, no control character, comma, | or lone surrogate, no two the same',
  '/tags/0': 'at most 64 characters, not only white space, no control character, comma, | or lone surrogate',
  '/images': 'an array of 0 to 20, each an object with url, alt, no two with the same url',
  '/images/0': 'an object with url, alt',
  '/images/0/url': 'at most 2048 characters of ASCII, an absolute http or https URL without user information',
  '/images/0/alt': 'at most 500 characters, no control character or lone surrogate',
  '/url': 'at most 2048 characters of ASCII, an absolute http or https URL without user information',
  '/brand': 'at most 200 characters, not only white space, no control character or lone surrogate',
  '/gtin': 'a string of 8, 12, 13 or 14 digits, the last of which is the check digit',
  '/group': 'at most 64 of A-Z a-z 0-9 . _ -',
  '/stock': 'an integer from 0, in pieces, at most 9007199254740991',
};

describe('the message about a detail of a product', () => {
  it('states the whole rule', () => {
    const ofNoType = Object.fromEntries(Object.keys(VALID).map((member) => [member, {}]));
    const bodies = [ofNoType, { tags: [5], images: [5] }, { images: [{ url: 5, alt: 5 }] }];
    const issues = bodies.flatMap((body) => newDraft(PRODUCTS, { name: 'x', ...body }).issues);
    expect(issues.map(({ pointer }) => pointer)).to.have.members(Object.keys(RULES));
    for (const { pointer = '', message } of issues) expect(message).to.include(RULES[pointer]);
  });
});
