import { expect } from 'chai';
import { newDraft, referenceValidator } from '#src/application/records/record-format.js';
import { DEFINITIONS } from '#src/composition/resources.js';
import type { IssueCode } from '#src/domain/errors.js';
import type { Field, FieldTable, ListField, Path } from '#src/domain/fields.js';
import { ORDER } from '#src/domain/order.js';
import { PRODUCT } from '#src/domain/product.js';
import type { TextRule } from '#src/domain/text.js';
import { ATTRIBUTES, issueIn, ruleOf } from '#src/domain/validation.js';

/** A value that breaks a rule, the place of the issue below the field, and what the message must contain. */
type Broken = readonly [code: IssueCode, value: unknown, inside: Path, ...words: readonly unknown[]];

const MISSING = Symbol('no value');
const wordsOf = ({ max, characters }: TextRule) => [`at most ${max}`, characters];
const times = (count: number, value: unknown) => Array.from({ length: count }, () => value);

/** Every way to break the rule of a field. A new kind of field does not compile without an entry. */
function brokenValues(field: Field, valid: never): Broken[] {
  switch (field.kind) {
    case 'text': {
      const words = wordsOf(field);
      return [
        ['invalid_type', 7, [], 'must be a string', ...words],
        ['too_long', 'a'.repeat(field.max + 1), [], ...words],
        ['invalid_format', '\u0000', [], ...words],
        ...(field.min > 0 ? [['too_short', '', [], 'must not be empty', ...words] as const] : []),
      ];
    }
    case 'code':
      return textCodes(field.form);
    case 'choice':
      return textCodes(...field.values);
    case 'instant':
      return textCodes('2030-01-31T00:00:00Z', 'RFC 3339', ...(field.limits ? [field.limits] : []));
    case 'integer': {
      const words = ['an integer', `from ${field.min}`, field.max, ...(field.unit ? [field.unit] : [])];
      return [
        ...['7', 1.5, true].map((value): Broken => ['invalid_type', value, [], ...words]),
        ...[field.min - 1, field.max + 1].map((value): Broken => ['out_of_range', value, [], ...words]),
      ];
    }
    case 'reference': {
      const words = ['the id of one of the', field.to, 'an integer from 1'];
      return [
        ['invalid_type', '7', [], ...words],
        ['out_of_range', 0, [], ...words],
      ];
    }
    case 'attributes':
      return brokenAttributes();
    case 'object':
      return [
        ['invalid_type', 7, [], 'an object with', ...Object.keys(field.fields)],
        ['unknown_field', { ...(valid as object), colour: 1 }, ['colour'], ...Object.keys(field.fields)],
      ];
    case 'list': {
      const words = ['an array', field.min, field.max, ruleOf(field.of)];
      const [element] = valid as [unknown];
      return [
        ['invalid_type', 7, [], ...words],
        ['too_long', times(field.max + 1, element), [], ...words],
        ...repetition(field, element),
        ...(field.min > 0 ? [['too_short', [], [], ...words] as const] : []),
      ];
    }
  }
}

function repetition({ distinct }: ListField, element: unknown): Broken[] {
  if (!distinct) return [];
  return [['duplicate_value', [element, element], [1, ...distinct], 'differ from that of every other']];
}

function textCodes(...words: string[]): Broken[] {
  return [
    ['invalid_type', 7, [], ...words],
    ['too_short', '', [], 'must not be empty', ...words],
    ['invalid_format', '\u0000', [], ...words],
  ];
}

function brokenAttributes(): Broken[] {
  const { maxKeys, key, text } = ATTRIBUTES;
  const value = [...wordsOf(text), 2 ** 53 - 1, 'true or false'];
  const ofKey = ['must have a key that is not empty, of', ...wordsOf(key)];
  const many = Object.fromEntries(Array.from({ length: maxKeys + 1 }, (_, at) => [`k${at}`, at]));
  const all = [maxKeys, ...wordsOf(key), ...value];
  const long = 'k'.repeat(key.max + 1);
  return [
    ['invalid_type', 7, [], ...all],
    ['too_long', many, [], ...all],
    ['invalid_type', { a: [] }, ['a'], ...value],
    ['out_of_range', { a: 2 ** 53 }, ['a'], ...value],
    ['too_long', { a: 'x'.repeat(text.max + 1) }, ['a'], ...value],
    ['invalid_format', { a: '\n' }, ['a'], ...value],
    ['too_short', { '': 1 }, [''], ...ofKey],
    ['too_long', { [long]: 1 }, [long], ...ofKey],
    ['invalid_format', { '\n': 1 }, ['\n'], ...ofKey],
  ];
}

interface Place {
  readonly field: Field;
  readonly path: Path;
}

/** Every field, those inside objects and lists too. The first element stands for all of a list. */
function placesIn(table: FieldTable, around: Path = []): Place[] {
  return Object.entries(table).flatMap(([name, field]) => placesOf(field, [...around, name]));
}

function placesOf(field: Field, path: Path): Place[] {
  const inside =
    field.kind === 'object'
      ? placesIn(field.fields, path)
      : field.kind === 'list'
        ? placesOf(field.of, [...path, 0])
        : [];
  return [{ field, path }, ...inside];
}

function valueAt(body: unknown, path: Path): never {
  return path.reduce((value, step) => (value as Record<string, unknown>)[step], body) as never;
}

function withValue(body: object, path: Path, value: unknown): object {
  const copy = structuredClone(body);
  const parent: Record<string, unknown> = valueAt(copy, path.slice(0, -1));
  const name = `${path.at(-1)}`;
  if (value === MISSING) delete parent[name];
  else parent[name] = value;
  return copy;
}

const seen = new Set<IssueCode>();

for (const [name, definition] of Object.entries(DEFINITIONS))
  describe(`every message about ${name}`, () => {
    const { table, example } = definition;

    for (const { field, path } of placesIn(table)) {
      const required: Broken[] = field.required ? [['required', MISSING, [], ruleOf(field)]] : [];
      it(`states the rule of ${path.join('.')}`, () => {
        for (const [code, value, inside, ...words] of [...required, ...brokenValues(field, valueAt(example, path))])
          expectMessage(withValue(example, path, value), code, [...path, ...inside], words);
      });
    }

    it('names the fields that there are', () => {
      expectMessage({ ...example, colour: 1 }, 'unknown_field', ['colour'], Object.keys(table));
    });

    it('says what to do with a field of the service', () => {
      expectMessage({ ...example, id: 1 }, 'read_only_field', ['id'], ['leave it out', 'stored value']);
    });

    function expectMessage(body: object, code: IssueCode, path: Path, words: readonly unknown[]): void {
      const { issues } = newDraft(definition as never, body);
      const { message, pointer } = issueIn(table, { code, path });
      const found = issues.find((issue) => issue.code === code && issue.pointer === pointer);
      const told = `${code} at ${pointer || message}: ${JSON.stringify(issues)}`;
      expect(found, told).to.be.an('object');
      for (const word of [path.join('.').slice(0, 100), ...words]) expect(found?.message, told).to.include(`${word}`);
      seen.add(code);
    }
  });

describe('messages about references', () => {
  it('state what a reference must name', async () => {
    const nothing = { findExistingIds: async () => new Set<number>() };
    const validate = referenceValidator(ORDER, { users: nothing, products: nothing });
    const draft = { fields: DEFINITIONS.orders.example, issues: [] };
    const [issues = []] = (await validate?.([{ draft }])) ?? [];
    expect(issues.map(({ message }) => message)).to.deep.equal([
      'userId must be the id of one of the users, an integer from 1; none has this id.',
      'items.0.productId must be the id of one of the products, an integer from 1; none has this id.',
    ]);
    seen.add('reference_not_found');
  });

  it('and all those above are of every code that a body can have', () => {
    const codes: Record<IssueCode, true> = {
      required: true,
      invalid_type: true,
      out_of_range: true,
      too_long: true,
      too_short: true,
      invalid_format: true,
      unknown_field: true,
      read_only_field: true,
      duplicate_value: true,
      reference_not_found: true,
      // The test operation of a JSON Patch has a message of its own.
      patch_test_failed: true,
    };
    expect([...seen, 'patch_test_failed']).to.have.members(Object.keys(codes));
  });
});

describe('the rules', () => {
  const messageOf = (table: FieldTable, code: IssueCode, ...path: string[]) => issueIn(table, { code, path }).message;

  it('read as sentences', () => {
    expect(messageOf(PRODUCT, 'invalid_format', 'sku')).to.equal('sku must be at most 64 of A-Z a-z 0-9 . _ -.');
    expect(messageOf(PRODUCT, 'out_of_range', 'price', 'amount')).to.equal(
      'price.amount must be an integer from 0, in the smallest unit of the currency (1999 is 19.99 EUR), at most 9007199254740991.',
    );
    expect(messageOf(PRODUCT, 'required', 'price', 'currency')).to.equal(
      'price.currency is required: it must be three capital letters, such as EUR.',
    );
    expect(messageOf(ORDER, 'unknown_field', 'colour')).to.equal('colour is not a field: there are userId, items.');
  });
});
