import { expect } from 'chai';
import { patchedByJsonPatch } from '#src/application/patch/json-patch.js';
import { parseJsonPatch } from '#src/application/patch/parse-json-patch.js';
import { AppError } from '#src/domain/errors.js';

const FAILED = 'patch_test_failed';
const INVALID = 'invalid_patch';

/** Document, patch, and what comes of it: a document, or the code of an error and where in the patch it is. */
type Case = readonly [what: string, document: unknown, patch: unknown, outcome: unknown | Refusal];

class Refusal {
  constructor(
    readonly code: string,
    readonly pointer: string,
  ) {}
}

const refused = (code: string, pointer: string) => new Refusal(code, pointer);

/** RFC 6902, appendix A; A.13, a member that is there twice, is no body that the service reads. */
const APPENDIX: Case[] = [
  ['A.1', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux' }], { baz: 'qux', foo: 'bar' }],
  [
    'A.2',
    { foo: ['bar', 'baz'] },
    [{ op: 'add', path: '/foo/1', value: 'qux' }],
    { foo: ['bar', 'qux', 'baz'] },
  ],
  ['A.3', { baz: 'qux', foo: 'bar' }, [{ op: 'remove', path: '/baz' }], { foo: 'bar' }],
  ['A.4', { foo: ['bar', 'qux', 'baz'] }, [{ op: 'remove', path: '/foo/1' }], { foo: ['bar', 'baz'] }],
  [
    'A.5',
    { baz: 'qux', foo: 'bar' },
    [{ op: 'replace', path: '/baz', value: 'boo' }],
    { baz: 'boo', foo: 'bar' },
  ],
  [
    'A.6',
    { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } },
    [{ op: 'move', from: '/foo/waldo', path: '/qux/thud' }],
    { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } },
  ],
  [
    'A.7',
    { foo: ['all', 'grass', 'cows', 'eat'] },
    [{ op: 'move', from: '/foo/1', path: '/foo/3' }],
    { foo: ['all', 'cows', 'eat', 'grass'] },
  ],
  [
    'A.8',
    { baz: 'qux', foo: ['a', 2, 'c'] },
    [
      { op: 'test', path: '/baz', value: 'qux' },
      { op: 'test', path: '/foo/1', value: 2 },
    ],
    { baz: 'qux', foo: ['a', 2, 'c'] },
  ],
  ['A.9', { baz: 'qux' }, [{ op: 'test', path: '/baz', value: 'bar' }], refused(FAILED, '/0')],
  [
    'A.10',
    { foo: 'bar' },
    [{ op: 'add', path: '/child', value: { grandchild: {} } }],
    { foo: 'bar', child: { grandchild: {} } },
  ],
  ['A.11', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux', xyz: 123 }], { foo: 'bar', baz: 'qux' }],
  ['A.12', { foo: 'bar' }, [{ op: 'add', path: '/baz/bat', value: 'qux' }], refused(INVALID, '/0/path')],
  ['A.14', { '/': 9, '~1': 10 }, [{ op: 'test', path: '/~01', value: 10 }], { '/': 9, '~1': 10 }],
  ['A.15', { '/': 9, '~1': 10 }, [{ op: 'test', path: '/~01', value: '10' }], refused(FAILED, '/0')],
  [
    'A.16',
    { foo: ['bar'] },
    [{ op: 'add', path: '/foo/-', value: ['abc', 'def'] }],
    { foo: ['bar', ['abc', 'def']] },
  ],
];

const LIST = { a: [1, 2] };
const at = (path: unknown, op = 'add') => [{ op, path, value: 9 }];
const noLocation = (paths: string[], op: string): Case[] =>
  paths.map((path) => [
    `${op} ${path}`,
    { ...LIST, t: 'text', n: null },
    at(path, op),
    refused(INVALID, '/0/path'),
  ]);

const POINTERS: Case[] = [
  ['~0, ~1 and ~01', {}, [...at('/~0'), ...at('/~1'), ...at('/~01')], { '~': 9, '/': 9, '~1': 9 }],
  ['empty names', { '': { '': 1 } }, at('//', 'replace'), { '': { '': 9 } }],
  ['an empty name', {}, at('/'), { '': 9 }],
  ['- as the name of a member', { '-': 1 }, at('/-', 'replace'), { '-': 9 }],
  ['digits as the name of a member', { '01': 1 }, at('/01', 'replace'), { '01': 9 }],
  ['percent signs as they are', {}, at('/a%2Fb'), { 'a%2Fb': 9 }],
  ['names that every object of JavaScript inherits', {}, at('/constructor'), { constructor: 9 }],
  ['no inherited member', {}, at('/constructor', 'replace'), refused(INVALID, '/0/path')],
  ['no inherited member to test', {}, at('/toString/length', 'test'), refused(FAILED, '/0')],
  [
    'no inherited member to copy',
    {},
    [{ op: 'copy', from: '/toString', path: '/a' }],
    refused(INVALID, '/0/from'),
  ],
  ['the end of an array', LIST, at('/a/2'), { a: [1, 2, 9] }],
  ['the start of an array', LIST, at('/a/0'), { a: [9, 1, 2] }],
  ['the whole document', LIST, at(''), 9],
  ['the whole document, replaced', LIST, at('', 'replace'), 9],
  ['the whole document, tested', LIST, [{ op: 'test', path: '', value: { a: [1, 2] } }], LIST],
  ['the whole document, which cannot be removed', LIST, at('', 'remove'), refused(INVALID, '/0/path')],
  ...noLocation(['/a/3', '/a/-1', '/a/01', '/a/+1', '/a/1e0', '/a/1.0', '/a/ 1', '/a/', '/a/length'], 'add'),
  ...noLocation(
    ['/a/9007199254740993', `/a/${'9'.repeat(400)}`, '/a/0/0', '/a/-/0', '/t/0', '/n/x', '/x/y'],
    'add',
  ),
  ...noLocation(['/a/-', '/a/2', '/a/00', '/a/length', '/t/length', '/x'], 'replace'),
  ...noLocation(['/a/-', '/a/2', '/a/-0', '/a/length', '/x', '/x/y'], 'remove'),
  ...[
    '/~',
    '/~2',
    '/a~',
    '/~~0',
    'a',
    'a/b',
    '#/a',
    ' /a',
    '/__proto__',
    '/__proto__/a',
    '/a/__proto__',
  ].flatMap((path): Case[] =>
    ['add', 'test', 'remove'].map((op) => [
      `${op} ${path}, no pointer`,
      LIST,
      at(path, op),
      refused(INVALID, '/0/path'),
    ]),
  ),
];

const MOVES: Case[] = [
  ['a move of what is not there', {}, [{ op: 'move', from: '/a', path: '/b' }], refused(INVALID, '/0/from')],
  [
    'a move to where nothing can be',
    LIST,
    [{ op: 'move', from: '/a', path: '/b/c' }],
    refused(INVALID, '/0/path'),
  ],
  [
    'a move into its own child',
    { a: {} },
    [{ op: 'move', from: '/a', path: '/a/b' }],
    refused(INVALID, '/0/path'),
  ],
  [
    'a move of the whole into itself',
    LIST,
    [{ op: 'move', from: '', path: '/b' }],
    refused(INVALID, '/0/path'),
  ],
  ['a move to where it is', LIST, [{ op: 'move', from: '/a', path: '/a' }], LIST],
  ['a move to a name that begins alike', { a: 1 }, [{ op: 'move', from: '/a', path: '/ab' }], { ab: 1 }],
  ['a move over another member', { a: 1, b: 2 }, [{ op: 'move', from: '/a', path: '/b' }], { b: 1 }],
  ['a move to the whole', { a: { b: 1 } }, [{ op: 'move', from: '/a', path: '' }], { b: 1 }],
  ['a copy into its own child', { a: {} }, [{ op: 'copy', from: '/a', path: '/a/b' }], { a: { b: {} } }],
  [
    'a copy that is one of its own',
    { a: { x: 1 } },
    [{ op: 'copy', from: '/a', path: '/b' }, ...at('/b/x', 'replace')],
    { a: { x: 1 }, b: { x: 9 } },
  ],
  ['a copy of an element', LIST, [{ op: 'copy', from: '/a/0', path: '/a/-' }], { a: [1, 2, 1] }],
];

const test = (document: unknown, value: unknown, holds: boolean): Case => [
  `${JSON.stringify(document)} ${holds ? 'is' : 'is not'} ${JSON.stringify(value)}`,
  { d: document },
  [{ op: 'test', path: '/d', value }],
  holds ? { d: document } : refused(FAILED, '/0'),
];

const TESTS: Case[] = [
  test({ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 }, true),
  test(0, -0, true),
  test(null, null, true),
  test([1, 2], [2, 1], false),
  test([1], [1, 2], false),
  test({ a: 1 }, { a: 1, b: 1 }, false),
  test({ a: 1, b: 1 }, { a: 1 }, false),
  test({ a: 1 }, { b: 1 }, false),
  test({ valueOf: 1 }, { toString: 1 }, false),
  test([], {}, false),
  test({}, [], false),
  test('1', 1, false),
  test(null, false, false),
  test(0, false, false),
  test('\u00e9', 'e\u0301', false),
  ['nothing is not null', {}, [{ op: 'test', path: '/a', value: null }], refused(FAILED, '/0')],
  ['nothing below nothing is tested too', {}, at('/a/b/c', 'test'), refused(FAILED, '/0')],
  ['beyond an array nothing is tested', LIST, at('/a/-', 'test'), refused(FAILED, '/0')],
];

const SHAPES: Case[] = [
  ...[{}, null, 'x', 7, { op: 'add', path: '/a', value: 1 }].map(
    (patch): Case => [`a patch that is ${JSON.stringify(patch)}`, {}, patch, refused(INVALID, '')],
  ),
  ['no operations', LIST, [], LIST],
  ['an operation that is none', {}, [...at('/a'), 'x'], refused(INVALID, '/1')],
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
    [`${op} from no pointer`, { a: 1 }, [{ op, path: '/a', from: 'a' }], refused(INVALID, '/0/from')],
  ]),
  ['null is a value', {}, [{ op: 'add', path: '/a', value: null }], { a: null }],
  ['members that an operation does not have', {}, [{ ...at('/a')[0], from: 7 }], { a: 9 }],
];

const many = <Item>(count: number, item: (i: number) => Item) =>
  Array.from({ length: count }, (_, i) => item(i));

const SIZES: Case[] = [
  ['1,000 operations', LIST, many(1_000, () => at('/a/0', 'replace')[0]), { a: [9, 2] }],
  ['1,001 operations', LIST, many(1_001, () => at('/a/0', 'replace')[0]), refused(INVALID, '')],
  [
    'copies that double the document each time',
    { a: 1 },
    many(1_000, (i) => ({ op: 'copy', from: '', path: `/k${i}` })),
    refused(INVALID, '/14'),
  ],
  [
    'copies of something large over one place',
    { a: many(1_000, () => 1) },
    many(1_000, () => ({ op: 'copy', from: '/a', path: '/b' })),
    refused(INVALID, '/48'),
  ],
  [
    'depths beyond 20',
    {},
    many(100, (i) => ({ op: 'add', path: '/a'.repeat(i + 1), value: {} })),
    refused(INVALID, '/19'),
  ],
  [
    'depths beyond 20 by moves',
    { b: {} },
    many(100, () => [
      { op: 'add', path: '/c', value: {} },
      { op: 'move', from: '/b', path: '/c/a' },
      { op: 'move', from: '/c', path: '/b' },
    ]).flat(),
    refused(INVALID, '/55'),
  ],
];

describe('JSON patch', () => {
  const tables = { APPENDIX, POINTERS, MOVES, TESTS, SHAPES, SIZES };
  for (const [name, cases] of Object.entries(tables)) {
    describe(name.toLowerCase(), () => {
      for (const [what, document, patch, outcome] of cases)
        it(what, () => expectOutcome(document, patch, outcome));
    });
  }

  it('leaves the document and the patch as they were', () => {
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
    expect(patchedByJsonPatch(document, patch)).to.deep.equal({ a: {}, l: [1, 2], b: { y: [[1, 2]] } });
    expect(JSON.stringify([document, patch])).to.equal(before);
  });

  it('tells all that is wrong with the operations at once, in bounds', () => {
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

  it('sets no prototype', () => {
    const outcome = patchedByJsonPatch({}, at('/constructor')) as object;
    expect(Object.getPrototypeOf(outcome)).to.equal(Object.prototype);
    expect(Object.hasOwn(outcome, 'constructor')).to.equal(true);
  });
});

function expectOutcome(document: unknown, patch: unknown, outcome: unknown): void {
  if (!(outcome instanceof Refusal)) {
    expect(patchedByJsonPatch(document, patch)).to.deep.equal(outcome);
    return;
  }
  const { code, details } = refusalOf(() => patchedByJsonPatch(document, patch));
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
