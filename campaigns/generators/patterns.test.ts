import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { list } from '../../tests/support/list.js';
import { documentOf, issuesOfNew } from '../../tests/support/openapi/described.js';
import type { Node } from '../../tests/support/openapi/document.js';
import { AT_NIGHT } from '../../tests/support/run-settings.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';

const ENGINES = 'campaigns/generators/engines';

/** White space by Unicode or JavaScript. A name of it alone is refused; the document says so in words. */
const BLANKS = ['\u0085', '\u00a0', '\u2003', '\u2028', '\u3000', '\ufeff', ' \u00a0'];

/**
 * Texts without a line feed: before one at the end of a text `$` matches in Python, PCRE and Ruby, and no pattern that
 * JavaScript and RE2 read can forbid it.
 */
const TEXTS = [
  ...['', ' ', '\t', 'a', 'a b', 'a\tb', 'a\r', '\r', '\u0001', 'a\u0001b', '\u007f', 'a\u0080', '\u0080', ...BLANKS],
  ...[...list`é  Küche  日本  😀  a😀  ſ  -  .  ?!  lamp  A-1_b.c`, '\u212a', '\u0660', 'a\u2028', 'a\u0085'],
  ...list`EUR  eur  EURO  EU  ÄÖÜ  ann@example.com  ann@  a@b  a@b_c  a@-b  é@b  a b@c  o'n@x.y`,
  ...[...list`/a/b~0  /a~  /  a/b  *  "3"  W/"3"  w/"3"  "a b"  "é"  "a"b"  "3  *, "3"`, '"a", W/"b" ,\t"c"'],
  ...[
    'attributes.colour',
    'attributes.',
    'attributesXa',
    'attributes[a].lt',
    'attributes[].lt',
    'attributes[a,b]',
    'price.currency',
    'a,b,,c',
    `pcs_${'0'.repeat(36)}`,
    '1,2',
    'key 1',
    ' key',
    '10',
    '010',
  ],
  ...list`96385074  4006381333931  036000291452  10012345678902  963850740  ９６３８５０７４  lighting/lamps  a,b  a|b  |`,
  ...list`https://a  HTTP://[::1]:80/a?b#c  https://a/%C3%A9  https://u@a  https://a/ä  ftp://a  https://a/%  http://  a.jpg`,
  ...['\u212attps://a', 'http\u017f://a', 'https://a\r', '\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667'],
  ...['"default";q=600;w=60', '"default";r=599;t=60', 'x'.repeat(128), 'x'.repeat(129)],
];

function patternsIn(node: Node, found = new Set<string>()): Set<string> {
  if (typeof node !== 'object' || node === null) return found;
  if (typeof node.pattern === 'string') found.add(node.pattern);
  for (const value of Object.values(node)) patternsIn(value, found);
  return found;
}

type Verdicts = readonly string[];

describe('the patterns of the OpenAPI document', () => {
  const folder = temporaryFolder();
  const document: Node = documentOf({ STORE: 'memory', PUBLIC_URL: 'https://catalogue.test' });
  const patterns = [...patternsIn(document)];
  const input = patterns.map((one) => [one, ...TEXTS].map((text) => Buffer.from(text).toString('base64')).join(' '));
  const inJavaScript = verdictsOf((pattern, text) => new RegExp(pattern, 'u').test(text));

  function verdictsOf(matches: (pattern: string, text: string) => boolean): Verdicts {
    return patterns.map((pattern) => TEXTS.map((text) => (matches(pattern, text) ? '1' : '0')).join(''));
  }

  it('are many', () => expect(patterns).to.have.length.greaterThan(15));

  it('accept and refuse the texts of fields as the service does', () => {
    const product = (more: object) => ({ name: 'x', ...more });
    const places: [Parameters<typeof issuesOfNew>[0], string, string, (text: string) => object][] = [
      ['products', 'ProductInput', 'name', (name) => ({ name })],
      ['products', 'ProductInput', 'description', (description) => product({ description })],
      ['products', 'ProductInput', 'sku', (sku) => product({ sku })],
      ['products', 'PriceInput', 'currency', (currency) => product({ price: { amount: 1, currency } })],
      ['products', 'ImageInput', 'url', (url) => product({ images: [{ url }] })],
      ['products', 'ImageInput', 'alt', (alt) => product({ images: [{ url: 'https://a', alt }] })],
      ['products', 'ProductInput', 'url', (url) => product({ url })],
      ['products', 'ProductInput', 'brand', (brand) => product({ brand })],
      ['products', 'ProductInput', 'gtin', (gtin) => product({ gtin })],
      ['products', 'ProductInput', 'group', (group) => product({ group })],
      ['products', 'ProductInput', 'tags', (tag) => product({ tags: [tag] })],
      ['users', 'UserInput', 'email', (email) => ({ name: 'x', email })],
    ];
    const { schemas } = document.components;
    for (const [resource, schema, field, body] of places) {
      const { items, pattern = items?.pattern } = schemas[schema].properties[field];
      const differing = TEXTS.filter((text) => {
        const issues = issuesOfNew(resource, body(text));
        return new RegExp(pattern, 'u').test(text) === issues.some(({ code }) => code === 'invalid_format');
      });
      const known = ['name', 'brand', 'tags'].includes(field) ? BLANKS : [];
      // An empty text breaks another rule.
      expect(
        differing.filter((text) => text !== ''),
        field,
      ).to.deep.equal(known);
    }
  });

  it('mean the same to Python', () => expectSame('python3', [`${ENGINES}/matches.py`]));

  it('mean the same to RE2', function () {
    this.timeout(120_000);
    expectSame('go', ['run', `${ENGINES}/matches.go`]);
  });

  it('mean the same to Java', function () {
    this.timeout(60_000);
    expectSame('java', ['-XX:TieredStopAtLevel=1', `${ENGINES}/Matches.java`]);
  });

  it('mean the same to PCRE2, as grep has it', function () {
    this.timeout(60_000);
    const file = join(mkdtempSync(join(folder, 'grep-')), 'texts');
    writeFileSync(file, TEXTS.map((text) => `${text}\n`).join(''));
    const env = { ...process.env, LC_ALL: 'C.UTF-8' };
    const verdicts = patterns.map((pattern) => {
      const { stdout, stderr } = spawnSync('grep', ['-anP', '--', pattern, file], { env, encoding: 'utf8' });
      expect(stderr, pattern).to.equal('');
      const found = new Set(stdout.split('\n').map((line) => Number.parseInt(line, 10)));
      return TEXTS.map((_, at) => (found.has(at + 1) ? '1' : '0')).join('');
    });
    expectVerdicts(verdicts);
  });

  // The gate has them where somebody has installed them.
  for (const [language, program, script] of [
    ['Ruby', 'ruby', 'matches.rb'],
    ['PHP', 'php', 'matches.php'],
  ] as const)
    if (AT_NIGHT || !spawnSync(program, ['--version']).error)
      it(`mean the same to ${language}`, () => expectSame(program, [`${ENGINES}/${script}`]));

  function expectSame(program: string, args: readonly string[]): void {
    const { stdout, stderr, status } = spawnSync(program, args, {
      input: input.map((line) => `${line}\n`).join(''),
      encoding: 'utf8',
    });
    expect(status, stderr).to.equal(0);
    expectVerdicts(stdout.trimEnd().split('\n'));
  }

  function expectVerdicts(verdicts: Verdicts): void {
    expect(verdicts).to.have.length(patterns.length);
    const differing = patterns.flatMap((pattern, one) =>
      TEXTS.filter((_, at) => verdicts[one]?.[at] !== inJavaScript[one]?.[at]).map((text) => [pattern, text]),
    );
    expect(differing).to.deep.equal([]);
  }
});
