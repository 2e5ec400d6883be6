import { expect } from 'chai';
import { HttpError } from '#src/adapters/inbound/http/core/http-error.js';
import { linkHeader, withMonitor } from '#src/adapters/inbound/http/lists/link-header.js';
import { BY_ID, type ListQuery, type Position } from '#src/application/ports/list-query.js';
import { linksOf } from '../../../../../support/links.js';

const record = (id: number) => ({ id, version: 1, createdAt: 0, updatedAt: 0, fields: {} });
const at = (side: Position['side'], inclusive: boolean, ...values: number[]): Position => ({ side, inclusive, values });
const MAX_TARGET = 8_192;
const MAX_LINK = 2_048;

/** @returns the header of a page with the records 5 to 6 */
function header(
  { from, hasMore = false, ids = [5, 6] }: { from?: Position; hasMore?: boolean; ids?: number[] },
  parameters: Record<string, string> = {},
): string {
  const query: ListQuery = { limit: 2, filters: [], order: BY_ID, ...(from && { from }) };
  const url = {
    list: 'products',
    path: '/v1/products',
    parameters: new Map(Object.entries(parameters)),
    addressOf: (target: string) => target,
  };
  return linkHeader(url, query, { records: ids.map(record), hasMore });
}

describe('linkHeader', () => {
  it('separates links by a comma', () => {
    const cursor = '[\\w-]+';
    expect(header({ from: at('after', false, 4), hasMore: true })).to.match(
      new RegExp(
        '^</v1/products\\?limit=2>; rel="first", ' +
          `</v1/products\\?limit=2&cursor=${cursor}>; rel="prev", ` +
          `</v1/products\\?limit=2&cursor=${cursor}>; rel="next"$`,
      ),
    );
  });

  it('encodes no character that a query may contain, except commas, semicolons and those that URLs use', () => {
    expect(header({}, { q: "/?:@-._~!*'()" })).to.equal('</v1/products?q=/?:@-._~!*\'()&limit=2>; rel="first"');
    expect(header({}, { q: ',;$&=+#%' })).to.equal('</v1/products?q=%2C%3B%24%26%3D%2B%23%25&limit=2>; rel="first"');
  });

  describe('with a long URL', () => {
    const base = '/v1/products?q=&limit=2'.length;
    const q = (length: number) => ({ q: 'x'.repeat(length) });

    it('rejects the request if the URL of the next page is too long', () => {
      expect(() => header({ hasMore: true }, q(MAX_TARGET - base))).to.throw(HttpError);
    });

    it('leaves out first and then prev while the header is longer than 2,048 bytes, but never next', () => {
      const relations = (page: Parameters<typeof header>[0], length: number) =>
        Object.keys(linksOf(header(page, q(length))));
      const middle = { from: at('after', false, 4), hasMore: true };
      const three = Math.floor((MAX_LINK - header(middle, q(0)).length) / 3);
      expect(relations(middle, three)).to.deep.equal(['first', 'prev', 'next']);
      expect(relations(middle, three + 1)).to.deep.equal(['prev', 'next']);
      expect(header(middle, q(three + 1))).to.include('>; rel="prev", <');
      const [, ...others] = header(middle, q(0)).split(', ');
      const two = Math.floor((MAX_LINK - others.join(', ').length) / 2);
      expect(relations(middle, two)).to.deep.equal(['prev', 'next']);
      expect(relations(middle, two + 1)).to.deep.equal(['next']);
      expect(relations(middle, MAX_TARGET - 200)).to.deep.equal(['next']);
    });

    it('leaves out all links of the last page if they do not fit', () => {
      const last = { from: at('after', false, 4) };
      const one = MAX_LINK - header({}, q(0)).length;
      expect(Object.keys(linksOf(header({}, q(one))))).to.deep.equal(['first']);
      expect(header({}, q(one + 1))).to.equal('');
      expect(header(last, q(one))).to.equal('');
    });

    it('leaves out monitor before the others', () => {
      const monitored = (links: string | undefined) =>
        Object.keys(linksOf(withMonitor(links, '/v1/products', (target) => target)));
      const monitor = ', </v1/products/changes>; rel="monitor"'.length;
      const middle = { from: at('after', false, 4), hasMore: true };
      const fits = Math.floor((MAX_LINK - monitor - header(middle, q(0)).length) / 3);
      expect(monitored(header(middle, q(fits)))).to.deep.equal(['first', 'prev', 'next', 'monitor']);
      expect(monitored(header(middle, q(fits + 1)))).to.deep.equal(['first', 'prev', 'next']);
      // There is room for it where the first page is left out, but it goes before that.
      const three = Math.floor((MAX_LINK - header(middle, q(0)).length) / 3);
      expect(monitored(header(middle, q(three + 1)))).to.deep.equal(['prev', 'next']);
      expect(withMonitor('', '/v1/products', (target) => target)).to.equal('');
      expect(monitored(undefined), 'of a stream').to.deep.equal(['monitor']);
    });
  });
});
