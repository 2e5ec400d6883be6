import { expect } from 'chai';
import { applyJsonPatch, parseJsonPatch } from '#src/application/patch/json-patch.js';
import { AppError } from '#src/domain/errors.js';

const FAILED = 'patch_test_failed';
const INVALID = 'invalid_patch';

/** Document, patch, and the outcome: a document, or an error code and its position in the patch. */
type Case = readonly [name: string, document: unknown, patch: unknown, outcome: unknown | Refusal];

class Refusal {
  constructor(
    readonly code: string,
    readonly pointer: string,
  ) {}
}

const refused = (code: string, pointer: string) => new Refusal(code, pointer);

const many = <Item>(count: number, item: (i: number) => Item) => Array.from({ length: count }, (_, i) => item(i));

/** @returns so many arrays around nothing */
const nested = (levels: number): unknown => (levels === 1 ? [] : [nested(levels - 1)]);

const LIST = { a: [1, 2] };
const at = (path: unknown, op = 'add') => [{ op, path, value: 9 }];
const add = (path: string, value: unknown) => ({ op: 'add', path, value });
const moved = (from: string, path: string, op = 'move') => [{ op, from, path }];
const noLocation = (paths: string[], op: string): Case[] =>
  paths.map((path) => [`${op} ${path}`, { ...LIST, t: 'text', n: null }, at(path, op), refused(INVALID, '/0/path')]);

const POINTERS: Case[] = [
  ['~0, ~1 and ~01', {}, [...at('/~0'), ...at('/~1'), ...at('/~01')], { '~': 9, '/': 9, '~1': 9 }],
  ['empty names', { '': { '': 1 } }, at('//', 'replace'), { '': { '': 9 } }],
  ['- as the name of a member', { '-': 1 }, at('/-', 'replace'), { '-': 9 }],
  ['digits as the name of a member', { '01': 1 }, at('/01', 'replace'), { '01': 9 }],
  ['percent signs unchanged', {}, at('/a%2Fb'), { 'a%2Fb': 9 }],
  ['the name of an inherited member', {}, at('/constructor'), { constructor: 9 }],
  ['no replacement of an inherited member', {}, at('/constructor', 'replace'), refused(INVALID, '/0/path')],
  ['no test of an inherited member', {}, at('/toString/length', 'test'), refused(FAILED, '/0')],
  ['no copy of an inherited member', {}, moved('/toString', '/a', 'copy'), refused(INVALID, '/0/from')],
  ['the whole document, replaced', LIST, at('', 'replace'), 9],
  ['no removal of the whole document', LIST, at('', 'remove'), refused(INVALID, '/0/path')],
  ['an index of two digits', many(12, (i) => i), at('/10', 'replace'), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 11]],
  ...noLocation(['/a/3', '/a/-1', '/a/01', '/a/+1', '/a/1e0', '/a/1.0', '/a/ 1', '/a/', '/a/length'], 'add'),
  ...noLocation(['/a/9007199254740993', `/a/${'9'.repeat(400)}`, '/a/0/0', '/a/-/0', '/t/0', '/n/x', '/x/y'], 'add'),
  ...noLocation(['/a/-', '/a/2', '/a/00', '/a/length', '/t/length', '/x'], 'replace'),
  ...noLocation(['/a/-', '/a/2', '/a/-0', '/a/length', '/x', '/x/y'], 'remove'),
  ...['/~', '/~2', '/a~', '/~~0', 'a', 'a/b', '#/a', ' /a'].flatMap((path): Case[] =>
    ['add', 'test', 'remove'].map((op) => [
      `${op} ${path}, not a pointer`,
      LIST,
      at(path, op),
      refused(INVALID, '/0/path'),
    ]),
  ),
  ...['/__proto__', '/__proto__/a', '/a/__proto__'].flatMap((path): Case[] => [
    [`test ${path}, which no value has`, LIST, at(path, 'test'), refused(FAILED, '/0')],
    ...['add', 'replace', 'remove'].map(
      (op): Case => [`${op} ${path}, which no value may have`, LIST, at(path, op), refused(INVALID, '/0/path')],
    ),
  ]),
];

const MOVES: Case[] = [
  ['a move from an absent location', {}, moved('/a', '/b'), refused(INVALID, '/0/from')],
  ['a move to an impossible location', LIST, moved('/a', '/b/c'), refused(INVALID, '/0/path')],
  ['a move into its own child', { a: {} }, moved('/a', '/a/b'), refused(INVALID, '/0/path')],
  ['a move to the same location', LIST, moved('/a', '/a'), LIST],
  ['a move to a name with the same prefix', { a: 1 }, moved('/a', '/ab'), { ab: 1 }],
  ['a move to the whole document', { a: { b: 1 } }, moved('/a', ''), { b: 1 }],
  ['a copy into its own child', { a: {} }, moved('/a', '/a/b', 'copy'), { a: { b: {} } }],
  [
    'a copy that is independent of the original',
    { a: { x: 1 } },
    [...moved('/a', '/b', 'copy'), ...at('/b/x', 'replace')],
    { a: { x: 1 }, b: { x: 9 } },
  ],
  [
    'a move into a child that the removal would put in its place',
    { a: [1, {}] },
    moved('/a/0', '/a/0/x'),
    refused(INVALID, '/0/path'),
  ],
  ['a copy of an element', LIST, moved('/a/0', '/a/-', 'copy'), { a: [1, 2, 1] }],
];

const test = (document: unknown, value: unknown, passes: boolean): Case => [
  `${JSON.stringify(document)} ${passes ? 'is' : 'is not'} ${JSON.stringify(value)}`,
  { d: document },
  [{ op: 'test', path: '/d', value }],
  passes ? { d: document } : refused(FAILED, '/0'),
];

const TESTS: Case[] = [
  test({ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 }, true),
  test(0, -0, true),
  test([1, 2], [2, 1], false),
  test([1, 2], [1, 3], false),
  test({ a: 1, b: 1 }, { a: 1 }, false),
  test({ a: 1, b: 2 }, { a: 1, b: 3 }, false),
  test({ valueOf: 1 }, { toString: 1 }, false),
  test({}, [], false),
  test(null, false, false),
  test(0, false, false),
  test('\u00e9', 'e\u0301', false),
  ['an absent member is not null', {}, [{ op: 'test', path: '/a', value: null }], refused(FAILED, '/0')],
  ['a test below an absent member fails', {}, at('/a/b/c', 'test'), refused(FAILED, '/0')],
  ['a test beyond the end of an array fails', LIST, at('/a/-', 'test'), refused(FAILED, '/0')],
];

const SHAPES: Case[] = [
  ...[{}, null, 'x', 7, { op: 'add', path: '/a', value: 1 }].map(
    (patch): Case => [`a patch that is ${JSON.stringify(patch)}`, {}, patch, refused(INVALID, '')],
  ),
  ['an operation that is not an object', {}, [...at('/a'), 'x'], refused(INVALID, '/1')],
  ['an operation in an array', {}, [[]], refused(INVALID, '/0')],
  ['no op', {}, [{ path: '/a', value: 1 }], refused(INVALID, '/0/op')],
  ['an unknown op', {}, at('/a', 'Add'), refused(INVALID, '/0/op')],
  ['an op that every object inherits', {}, at('/a', 'constructor'), refused(INVALID, '/0/op')],
  ['an op in an array', {}, [{ op: ['add'], path: '/a', value: 1 }], refused(INVALID, '/0/op')],
  ['no path', {}, [{ op: 'add', value: 1 }], refused(INVALID, '/0/path')],
  ['a path in an array', {}, at(['a']), refused(INVALID, '/0/path')],
  ...['add', 'replace', 'test'].map(
    (op): Case => [`${op} without a value`, { a: 1 }, [{ op, path: '/a' }], refused(INVALID, '/0/value')],
  ),
  ...['move', 'copy'].flatMap((op): Case[] => [
    [`${op} without from`, { a: 1 }, [{ op, path: '/a' }], refused(INVALID, '/0/from')],
    [`${op} from a number`, { a: 1 }, [{ op, path: '/a', from: 1 }], refused(INVALID, '/0/from')],
    [`${op} from an invalid pointer`, { a: 1 }, [{ op, path: '/a', from: 'a' }], refused(INVALID, '/0/from')],
  ]),
  ['unknown members of an operation', {}, [{ ...at('/a')[0], from: 7 }], { a: 9 }],
];

const SIZES: Case[] = [
  ['1,000 operations', LIST, many(1_000, () => at('/a/0', 'replace')[0]), { a: [9, 2] }],
  ['1,001 operations', LIST, many(1_001, () => at('/a/0', 'replace')[0]), refused(INVALID, '')],
  [
    'copies that double the document each time',
    { a: 1 },
    many(1_000, (i) => moved('', `/k${i}`, 'copy')).flat(),
    refused(INVALID, '/14'),
  ],
  [
    'repeated copies of a large value to one location',
    { a: many(1_000, () => 1) },
    many(1_000, () => moved('/a', '/b', 'copy')).flat(),
    refused(INVALID, '/48'),
  ],
  [
    'as many values as a record may have, and no more',
    many(49_997, () => 1),
    [...at('/-'), ...at('/-'), ...at('/-')],
    refused(INVALID, '/2'),
  ],
  ['a value of 20 levels in arrays', [], [add('/-', nested(19))], [nested(19)]],
  ['a value of 21 levels in arrays', [], [add('/-', nested(20))], refused(INVALID, '/0')],
  ['depths beyond 20', {}, many(100, (i) => add('/a'.repeat(i + 1), {})), refused(INVALID, '/19')],
  [
    'depths beyond 20 by moves',
    { b: {} },
    many(100, () => [add('/c', {}), ...moved('/b', '/c/a'), ...moved('/c', '/b')]).flat(),
    refused(INVALID, '/55'),
  ],
];

describe('JSON Patch', () => {
  const tables = { POINTERS, MOVES, TESTS, SHAPES, SIZES };
  for (const [name, cases] of Object.entries(tables))
    describe(name.toLowerCase(), () => {
      for (const [name, document, patch, outcome] of cases) it(name, () => expectOutcome(document, patch, outcome));
    });

  it('changes neither the document nor the patch', () => {
    const document = { a: { x: 1 }, l: [1] };
    const patch = [
      { op: 'add', path: '/b', value: { y: [] } },
      { op: 'add', path: '/b/y/-', value: 1 },
      { op: 'remove', path: '/a/x' },
      { op: 'add', path: '/l/-', value: 2 },
      { op: 'replace', path: '/b/y', value: [[1]] },
      { op: 'add', path: '/b/y/0/-', value: 2 },
    ];
    const before = JSON.stringify([document, patch]);
    expect(applyJsonPatch(document, patch)).to.deep.equal({ a: {}, l: [1, 2], b: { y: [[1, 2]] } });
    expect(JSON.stringify([document, patch])).to.equal(before);
  });

  it('reports the issues of all operations, at most 1,000', () => {
    const issues = refusalOf(() => parseJsonPatch([{}, { op: 'move', path: 'x' }, 5])).details;
    expect(issues.map((issue) => 'pointer' in issue && [issue.code, issue.pointer])).to.deep.equal([
      ['required', '/0/op'],
      ['required', '/0/path'],
      ['invalid_format', '/1/path'],
      ['required', '/1/from'],
      ['invalid_type', '/2'],
    ]);
    expect(refusalOf(() => parseJsonPatch(many(1_000, () => ({})))).details.length).to.equal(1_000);
  });

  it('has the code of its rule in every issue', () => {
    const codes = (patch: unknown, document: unknown = {}) =>
      refusalOf(() => applyJsonPatch(document, patch)).details.map((issue) => [issue.code, issue.in]);
    const cases: [code: string, patch: unknown][] = [
      ['patch_test_failed', at('/a', 'test')],
      ['reference_not_found', at('/a', 'remove')],
      ['too_long', [{ op: 'add', path: '', value: nested(21) }]],
      ['too_long', many(1_001, () => at('/a')[0])],
      ['too_long', at('/a'.repeat(101))],
      ['invalid_type', {}],
      ['invalid_type', at(5)],
      ['invalid_type', [{ op: 5, path: '/a' }]],
      ['invalid_format', at('/a', 'x')],
      ['invalid_format', at('/~')],
      ['invalid_format', at('/__proto__')],
      ['required', [{ op: 'add', path: '/a' }]],
    ];
    for (const [code, patch] of cases) expect(codes(patch)).to.deep.equal([[code, 'body']]);
    expect(codes(at('/a'.repeat(100), 'remove'))).to.deep.equal([['reference_not_found', 'body']]);
  });

  it('shows at most 100 characters of a path', () => {
    const { message } = refusalOf(() => applyJsonPatch({}, at(`/${'x'.repeat(200)}`, 'test')));
    expect(message).to.equal(`Operation 0, a test, found another value at "/${'x'.repeat(99)}".`);
  });

  it('keeps the order of members if a move ends where it begins', () => {
    expect(Object.keys(applyJsonPatch({ a: 1, b: 2 }, moved('/a', '/a')) as object)).to.deep.equal(['a', 'b']);
  });
});

function expectOutcome(document: unknown, patch: unknown, outcome: unknown): void {
  if (!(outcome instanceof Refusal)) {
    expect(applyJsonPatch(document, patch)).to.deep.equal(outcome);
    return;
  }
  const { code, details } = refusalOf(() => applyJsonPatch(document, patch));
  expect([code, details.map((issue) => 'pointer' in issue && issue.pointer)]).to.deep.equal([
    outcome.code,
    [outcome.pointer],
  ]);
}

function refusalOf(act: () => unknown): AppError {
  try {
    act();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}
