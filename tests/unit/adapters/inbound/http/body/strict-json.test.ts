import { expect } from 'chai';
import { parseStrictJson } from '#src/adapters/inbound/http/body/strict-json.js';

const MANY = 1_500;
const members = (count: number, more = '') =>
  `{${Array.from({ length: count }, (_, i) => `"m${i}":${i % 7 === 0 ? '[{"a":"\\"b\\":"},{}]' : i}`).join(',')}${more}}`;

describe('parseStrictJson, given many members,', () => {
  const parse = (text: string) => parseStrictJson(Buffer.from(text));

  it('parses all of them', () => {
    expect(Object.keys(parse(members(MANY)) as object)).to.have.length(MANY);
    expect(parse(`[${members(MANY)},${members(MANY)}]`)).to.have.length(2);
  });

  it('rejects a duplicate member, even if its name is escaped or nested', () => {
    for (const more of [',"m1":0', `,"\\u006d${MANY - 1}":1`, ',"x":[{"y":{"z":1,"z":1}}]']) {
      expect(() => parse(members(MANY, more)), more).to.throw('twice in one object');
    }
  });

  it('rejects a member __proto__ at any depth', () => {
    for (const more of [',"__proto__":0', ',"\\u005f_proto__":{}', ',"x":[{"y":{"__proto__":1}}]']) {
      expect(() => parse(members(MANY, more)), more).to.throw('__proto__');
    }
  });
});
