import { expect } from 'chai';
import fc from 'fast-check';
import type { ResourceDefinition } from '#src/adapters/inbound/http/core/resource-definition.js';
import { fieldsSchema, resourceSchemas, schemaNames } from '#src/adapters/inbound/http/openapi/schemas.js';
import { newDraft } from '#src/application/records/record-format.js';
import { DEFINITIONS } from '#src/composition/resources.js';
import type { Issue } from '#src/domain/errors.js';
import type { Field, FieldTable } from '#src/domain/fields.js';
import { ORDER } from '#src/domain/order.js';
import { isJsonObject } from '#src/shared/json.js';
import { OpenApiDocument } from '../support/openapi/document.js';
import { sized } from '../support/run-settings.js';
import { CHARACTER } from '../support/unicode-texts.js';

const RUNS = sized({ gate: 700, night: 2_000 });

/** Texts at the limits of every rule, and arbitrary ones. */
const TEXT = fc.oneof(
  fc.constantFrom('', ' ', '\u3000', '\ufeff', '\u0085', '\t', '\n', 'a\u0000', '\u007f', '\ud800', 'a\udfffb', '😀'),
  fc.constantFrom(
    'EUR',
    'eur',
    'EURO',
    'a.b_c-D',
    'ann@example.com',
    'ann@',
    '2030-01-31T00:00:00Z',
    'products:read',
    '96385074',
    '96385075',
    'https://example.com/a?b',
    'https://user@example.com',
    'a|b',
  ),
  fc
    .constantFrom(63, 64, 65, 199, 200, 201, 254, 255, 500, 501, 5_000, 5_001)
    .chain((length) => fc.constantFrom('a', '😀', ' ').map((letter) => letter.repeat(length))),
  fc.string({ unit: CHARACTER, maxLength: 5 }),
);
const NUMBER = fc.oneof(
  fc.constantFrom(-1, 0, 1, 1.5, 100, 101, 1_000_000, 1_000_001, 2 ** 53 - 1, 2 ** 53, -(2 ** 53), 1e300),
  fc.integer(),
);
const VALUE = fc.oneof(TEXT, NUMBER, fc.boolean(), fc.constant(null));

/** Mostly a valid value, sometimes a similar one, sometimes any value. */
function mostly<Valid>(valid: fc.Arbitrary<Valid>, similar: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ arbitrary: valid, weight: 30 }, { arbitrary: similar, weight: 2 }, { arbitrary: VALUE, weight: 1 });
}

const plain = { noNullPrototype: true } as const;
const oneOf = (...texts: string[]) => mostly(fc.constantFrom(...texts), TEXT);
const count = mostly(fc.integer({ min: 1, max: 100 }), NUMBER);

const NAMES = fc.oneof({ arbitrary: fc.constantFrom('colour', 'a.b', '$c'), weight: 9 }, TEXT);
const ATTRIBUTES = fc.dictionary(NAMES, mostly(fc.boolean(), VALUE), { maxKeys: 52, ...plain });

/** Mostly valid values of a field. */
function drawn(field: Field): fc.Arbitrary<unknown> {
  switch (field.kind) {
    case 'choice':
      return oneOf(...field.values);
    case 'integer':
    case 'reference':
      return count;
    case 'attributes':
      return ATTRIBUTES;
    case 'object':
      return bodiesOf(field.fields);
    case 'list': {
      const element = drawn(field.of);
      const few = fc.array(element, { minLength: 1, maxLength: 3 });
      return mostly(few, fc.array(element, { maxLength: field.max + 2 }));
    }
    default:
      return oneOf(field.example);
  }
}

/** Objects that mostly have the right fields. */
function bodiesOf(table: FieldTable): fc.Arbitrary<unknown> {
  const fields = Object.fromEntries(Object.entries(table).map(([name, field]) => [name, drawn(field)]));
  const requiredKeys = Object.keys(table).filter((name) => table[name]?.required);
  const known = fc.record(fields, { requiredKeys, ...plain });
  const more = fc.record({ ...fields, other: VALUE }, { requiredKeys: [], ...plain });
  return mostly(known, more);
}

/** JSON Schema cannot forbid a lone surrogate, because its patterns match whole characters. */
const LONE_SURROGATE = /\\u[dD][89a-fA-F]/;

/** A name or tag of white space beyond ASCII alone. The document says in words that it is refused. */
function isBlankBeyondAscii(body: unknown): boolean {
  const { name, brand, tags } = isJsonObject(body) ? body : {};
  return [name, brand, tags]
    .flat()
    .some((text) => typeof text === 'string' && /[^\x00-\x7f]/.test(text) && /^[\s\u0085]*$/u.test(text));
}

/** The document tells in words that the last digit checks the others. */
function isCheckDigit(body: unknown, { pointer }: Issue): boolean {
  const gtin = isJsonObject(body) ? body['gtin'] : undefined;
  return pointer === '/gtin' && typeof gtin === 'string' && /^(?:[0-9]{8}|[0-9]{12,14})$/.test(gtin);
}

/** The document tells in words that the elements of a list differ. */
function isRepeated(issue: Issue): boolean {
  return issue.code === 'duplicate_value';
}

for (const resource of Object.values<ResourceDefinition<never>>(DEFINITIONS as never))
  describe(`the JSON Schema of ${resource.docs.plural}`, () => {
    const schemas = resourceSchemas(resource, 'input');
    const { input } = schemaNames(resource.docs);
    const document = new OpenApiDocument({ components: { schemas } });
    const location = { node: document.root.components.schemas[input], pointer: `/components/schemas/${input}` };

    it('accepts exactly the bodies that the service accepts', () => {
      const seen = { valid: 0, invalid: 0 };
      const isAlike = fc.property(bodiesOf(resource.table), (body) => {
        const { issues } = newDraft(resource, body);
        const isToldInWords = issues.some((issue) => isRepeated(issue) || isCheckDigit(body, issue));
        fc.pre(!isToldInWords && !isBlankBeyondAscii(body) && !LONE_SURROGATE.test(JSON.stringify(body)));
        // The document says in words that null stands for no value.
        const sent = isJsonObject(body) ? resource.withoutNulls(body) : body;
        const isValid = document.issues(location, sent).length === 0;
        seen[isValid ? 'valid' : 'invalid']++;
        expect(isValid, JSON.stringify(issues)).to.equal(issues.length === 0);
      });
      fc.assert(isAlike, { numRuns: RUNS });
      expect(Math.min(seen.valid, seen.invalid), JSON.stringify(seen)).to.be.above(RUNS / 10);
    });
  });

describe('the JSON Schema of a list', () => {
  it('has its limits', () => {
    expect(fieldsSchema(ORDER).properties['items']).to.include({ minItems: 1, maxItems: 100 });
  });
});
