import { expect } from 'chai';
import { PRODUCTS } from '#src/adapters/inbound/http/resources/definitions.js';
import type { RecordFormat } from '#src/application/records/record-format.js';
import type { FieldTable } from '#src/domain/fields.js';
import { entityValidator } from '#src/domain/validation.js';

/** Fields that are laid over valid ones, and the issues that the body then has: `code pointer`. */
type Case = readonly [fields: object, ...issues: string[]];

function has({ validate }: Pick<RecordFormat<never>, 'validate'>, valid: object, cases: readonly Case[]): void {
  for (const [fields, ...expected] of cases) {
    const issues = validate({ ...valid, ...fields }).map(
      (issue) => `${issue.code} ${'pointer' in issue && issue.pointer}`,
    );
    expect(issues, JSON.stringify(fields).slice(0, 200)).to.deep.equal(expected);
  }
}

describe('a validator', () => {
  const list = (of: FieldTable[string], distinct?: string[]): FieldTable => ({
    l: { description: '', kind: 'list', of, min: 0, max: 9, ...(distinct && { distinct }) },
  });
  const validator = (table: FieldTable) => ({ validate: entityValidator(table) });
  const code = { description: '', kind: 'code', pattern: /x/, form: 'x', example: 'x' } as const;

  it('finds the texts that a list repeats, if they must be distinct', () => {
    const text = {
      kind: 'text',
      description: '',
      min: 1,
      max: 9,
      allowed: /^x*$/,
      characters: 'x',
      example: 'x',
    } as const;
    const l = ['x', 'xx', 'x', 'y', 'y'];
    const wrong = ['invalid_format /l/3', 'invalid_format /l/4'];
    has(validator(list(text, [])), {}, [[{ l }, ...wrong, 'duplicate_value /l/2']]);
    has(validator(list(text)), {}, [[{ l }, ...wrong]]);
  });

  it('is not made for a list that is distinct by an absent field, or by one without definite values', () => {
    expect(() => validator(list(code, ['a']))).to.throw('by a: its elements have no such field');
    expect(() => validator(list({ description: '', kind: 'object', fields: {} }, ['a']))).to.throw('by a');
    expect(() => validator(list(code, []))).to.throw('the kind code');
  });

  it('reports at most 1,000 issues of a body', () => {
    const others = Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`u${at}`, at]));
    const codes = PRODUCTS.validate({ ...others, name: 1 }).map(({ code }) => code);
    expect(codes).to.deep.equal(['invalid_type', ...Array(999).fill('unknown_field')]);
    const long = { l: { ...list(code)['l'], max: 9_999 } } as FieldTable;
    has(validator(long), {}, [[{ l: Array(9_999).fill('x') }]]);
  });
});
