import { expect } from 'chai';
import { hashOf, type Route, routeOf } from '#packages/pages/console/router.js';

const ROUTES: Readonly<Record<string, Route>> = {
  '#/': { page: 'home' },
  '#/products': { page: 'list', resource: 'products', query: new URLSearchParams() },
  '#/products?q=lamp+%3F&sort=-name': {
    page: 'list',
    resource: 'products',
    query: new URLSearchParams({ q: 'lamp ?', sort: '-name' }),
  },
  '#/keys': { page: 'list', resource: 'api-keys', query: new URLSearchParams() },
  '#/keys/7': { page: 'record', resource: 'api-keys', id: 7 },
  '#/products/17': { page: 'record', resource: 'products', id: 17 },
  '#/products/new': { page: 'new', resource: 'products' },
  '#/products/new?from=17': { page: 'new', resource: 'products', from: 17 },
  '#/import/products': { page: 'import', resource: 'products' },
  '#/tree/products/tags': { page: 'tree', resource: 'products', field: 'tags' },
  '#/a%2Fb%3F': { page: 'list', resource: 'a/b?', query: new URLSearchParams() },
};
/** Compares queries by their text. */
const shown = (route: Route) => ('query' in route ? { ...route, query: route.query.toString() } : route);

describe('the addresses of the console', () => {
  for (const [hash, route] of Object.entries(ROUTES))
    it(`${hash} leads to a page and back`, () => {
      expect(shown(routeOf(hash))).to.deep.equal(shown(route));
      expect(hashOf(route)).to.equal(hash);
    });

  for (const hash of [
    '',
    '#',
    '#/products/0',
    '#/products/1.5',
    '#/products/x',
    '#/a/b/c',
    '#/a/b/',
    '#/tree/a/b/c',
    '#/%ff',
  ])
    it(`'${hash}' leads home`, () => {
      expect(routeOf(hash)).to.deep.equal({ page: 'home' });
    });

  it('no name of a JavaScript object is an alias', () => {
    expect(routeOf('#/constructor')).to.deep.include({ resource: 'constructor' });
  });
});
