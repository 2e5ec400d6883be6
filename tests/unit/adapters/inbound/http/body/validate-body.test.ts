import { expect } from 'chai';
import { bodyValidator } from '#src/adapters/inbound/http/body/validate-body.js';
import { exampleOf, type FieldTable } from '#src/domain/fields.js';
import { ORDER } from '#src/domain/order.js';
import { PRODUCT } from '#src/domain/product.js';
import { USER } from '#src/domain/user.js';
import { entityValidity } from '#src/domain/validation.js';
import { WEBHOOK } from '#src/domain/webhook.js';
import { BAD_RECORDS } from '../../../../../support/invalid-values.js';
import { TEST_SEED } from '../../../../../support/run-settings.js';
import { SeededRandom } from '../../../../../support/seeded-random.js';

const TABLES: readonly FieldTable[] = [PRODUCT, USER, ORDER, WEBHOOK];
const CHANGES = 500;
const UNKNOWN = 'unknown field';

/** Returns the issues that joi finds: a field that no table has keeps a body from being valid. */
function issuesIn(table: FieldTable): (body: object) => readonly string[] {
  const validate = bodyValidator(table, []);
  return (body) =>
    validate({ ...body, [UNKNOWN]: 1 })
      .map(({ code, pointer }) => `${code} ${pointer}`)
      .filter((issue) => issue !== `unknown_field /${UNKNOWN}`);
}

describe('the validity of an entity', () => {
  const bad = BAD_RECORDS.flatMap(({ values }) => values);
  const values: readonly unknown[] = [
    ...bad.map(({ json }) => JSON.parse(json) as unknown),
    ...TABLES.flatMap((table) => Object.values(exampleOf(table))),
    ...[null, true, 0, -0, 1, 1.5, 2 ** 53 - 1, 2 ** 53, '', 'x', 'EUR', 'https://a', [], {}, [1], { a: 1 }],
  ];
  const names = [...new Set([...TABLES.flatMap(Object.keys), ...bad.map(({ member }) => member)])];

  for (const table of TABLES)
    it(`is that joi finds no issue, of the fields ${Object.keys(table).slice(0, 3).join(', ')} …`, () => {
      const random = new SeededRandom(TEST_SEED);
      const isValid = entityValidity(table);
      const issues = issuesIn(table);
      const verdicts = { true: 0, false: 0 };
      const bodies = [
        ...bad.map(({ member, json }) => ({ ...exampleOf(table), [member]: JSON.parse(json) as unknown })),
        ...Array.from({ length: CHANGES }, () => changed(exampleOf(table), random) as object),
      ];
      for (const body of bodies) {
        const found = issues(body);
        expect(isValid(body), `${JSON.stringify(body).slice(0, 500)} ${found}`).to.equal(found.length === 0);
        verdicts[`${found.length === 0}`]++;
      }
      expect(verdicts.true).to.be.above(CHANGES / 20);
      expect(verdicts.false).to.be.above(CHANGES / 20);
    });

  it('is that of an object', () => {
    const isValid = entityValidity(PRODUCT);
    for (const value of [null, undefined, true, 1, 'x', [], [{ name: 'x' }]])
      expect(isValid(value)).to.equal(false);
  });

  /** Changes some of the members or elements of a value, or the value itself. */
  function changed(value: unknown, random: SeededRandom, depth = 0): unknown {
    if (depth > 0 && random.chance(0.15)) return random.oneOf(values);
    if (Array.isArray(value)) {
      const elements = value.map((element) => changed(element, random, depth + 1));
      if (random.chance(0.1)) elements.push(...elements, random.oneOf(values));
      return random.chance(0.05) ? [] : elements;
    }
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value)
      .filter(() => random.chance(0.8))
      .map(([name, member]) => [name, random.chance(0.3) ? changed(member, random, depth + 1) : member]);
    if (random.chance(0.1)) entries.push([random.oneOf(names), random.oneOf(values)]);
    return Object.fromEntries(entries) as object;
  }
});
