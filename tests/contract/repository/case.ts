import { expect } from 'chai';
import type { Comparison, Filter, Position, SortOrder, Value } from '#src/application/ports/list-query.js';
import { list } from '../../support/list.js';
import { MATCHES, NUMBER_OPERATORS } from './expected.js';
import { at, by, idsOf, query, user } from './records.js';
import type { TestStore } from './test-store.js';

/** Addresses with letters and with the characters between and around them in ASCII. */
const EMAILS = [
  ...['a@x', 'B@x', 'c@X', 'Zoe@x', 'ann@x', 'Anna@X', 'ANNE@x', 'a_b@x', 'aXb@x', 'a%b@x', 'a.b@x', 'a*b@x'],
  ...['{z@x', '^a@x', '`a@x', '_a@x', '|a@x', '~a@x', '0@x', "o'neill@x", 'z@x', 'zz@x', 'z{@x'],
];
const OTHERS = [...list`A@X  b@X  ZOE@X  Z  z  AN  An  A_B@x  A_  A%  A.  {  {Z  ^A  É@x`, ''];

export function caseContract(store: TestStore): void {
  const matching = async (...filters: Filter[]) =>
    idsOf((await store.users.list(query({ filters }))).records);
  const where = (operator: Comparison['operator'], value: Value) =>
    matching({ field: 'email', operator, value });
  /** The ids of the matching addresses. The id of an address is its position in the list, from 1. */
  const idsWhere = (test: (email: string) => boolean) =>
    EMAILS.flatMap((email, position) => (test(email) ? [position + 1] : []));

  describe('case-insensitive fields', () => {
    beforeEach(() => store.addUsers(EMAILS.map((email, position) => user(position + 1, email))));

    it('match eq, ne and prefix in any case, and literally', async () => {
      for (const value of [...EMAILS, ...EMAILS.map(asciiUpper), ...OTHERS]) {
        for (const operator of ['eq', 'ne', 'prefix'] as const) {
          const expected = idsWhere((email) => MATCHES[operator](asciiLower(email), asciiLower(value)));
          expect(await where(operator, value), `${operator} ${value}`).to.deep.equal(expected);
        }
      }
    });

    it('match in, in any case', async () => {
      const listIn = (...values: string[]) => matching({ field: 'email', operator: 'in', values });
      expect(await listIn('A@X', 'b@x', 'ZOE@x', 'nobody@x')).to.deep.equal([1, 2, 4]);
      expect(await listIn('a@x', 'A@X')).to.deep.equal([1]);
      expect(await listIn()).to.deep.equal([]);
    });

    it('match lt, lte, gt and gte with their stored case', async () => {
      for (const value of [...EMAILS, ...OTHERS]) {
        for (const operator of NUMBER_OPERATORS.filter((one) => one !== 'eq' && one !== 'ne')) {
          const expected = idsWhere((email) => MATCHES[operator](email, value));
          expect(await where(operator, value), `${operator} ${value}`).to.deep.equal(expected);
        }
      }
    });

    it('are sorted by their stored case, forwards and backwards', async () => {
      const listed = async (order: SortOrder, from?: Position) => {
        const { records } = await store.users.list(query({ order, ...(from && { from }) }));
        return records.map(({ fields }) => fields.email);
      };
      const stored = EMAILS.toSorted();
      expect(await listed(by('email,id'))).to.deep.equal(stored);
      expect(await listed(by('-email,id'))).to.deep.equal(stored.toReversed());
      const rest = stored.filter((email) => email > 'Z');
      expect(await listed(by('email,id'), at('after', 'Z', 0))).to.deep.equal(rest);
      expect(await listed(by('-email,id'), at('before', 'Z', 0))).to.deep.equal(rest.toReversed());
    });

    it('can be filtered and sorted in one query', async () => {
      const { records } = await store.users.list(
        query({ filters: [{ field: 'email', operator: 'prefix', value: 'AN' }], order: by('email,id') }),
      );
      expect(records.map(({ fields }) => fields.email)).to.deep.equal(['ANNE@x', 'Anna@X', 'ann@x']);
    });

    it('are counted in any case', async () => {
      expect(await store.users.count([{ field: 'email', operator: 'prefix', value: 'aN' }])).to.equal(3);
      expect(await store.users.count([{ field: 'email', operator: 'ne', value: 'A@x' }])).to.equal(
        EMAILS.length - 1,
      );
    });
  });
}

function asciiLower(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 32));
}

function asciiUpper(text: string): string {
  return text.replaceAll(/[a-z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) - 32));
}
