import { expect } from 'chai';
import { applyMergePatch } from '#src/application/patch/merge-patch.js';

/** RFC 7396, appendix A. */
const CASES = `
  {"a":"b"}           {"a":"c"}               {"a":"c"}
  {"a":"b"}           {"b":"c"}               {"a":"b","b":"c"}
  {"a":"b"}           {"a":null}              {}
  {"a":"b","b":"c"}   {"a":null}              {"b":"c"}
  {"a":["b"]}         {"a":"c"}               {"a":"c"}
  {"a":"c"}           {"a":["b"]}             {"a":["b"]}
  {"a":{"b":"c"}}     {"a":{"b":"d","c":null}}  {"a":{"b":"d"}}
  {"a":[{"b":"c"}]}   {"a":[1]}               {"a":[1]}
  ["a","b"]           ["c","d"]               ["c","d"]
  {"a":"b"}           ["c"]                   ["c"]
  {"a":"foo"}         null                    null
  {"a":"foo"}         "bar"                   "bar"
  {"e":null}          {"a":1}                 {"e":null,"a":1}
  [1,2]               {"a":"b","c":null}      {"a":"b"}
  {}                  {"a":{"bb":{"ccc":null}}}  {"a":{"bb":{}}}
`;

describe('mergePatch', () => {
  for (const line of CASES.trim().split('\n')) {
    const [target = '', patch = '', result] = line.trim().split(/\s+/);
    it(`makes ${result} of ${target} and ${patch}`, () => {
      expect(JSON.stringify(applyMergePatch(JSON.parse(target), JSON.parse(patch)))).to.equal(result);
    });
  }

  it('changes neither the target nor the patch', () => {
    const target = { a: { b: 1 } };
    const patch = { a: { c: 2 } };
    applyMergePatch(target, patch);
    expect([target, patch]).to.deep.equal([{ a: { b: 1 } }, { a: { c: 2 } }]);
  });
});
