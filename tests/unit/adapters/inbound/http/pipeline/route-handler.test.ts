import { expect } from 'chai';
import type { Context, Middleware } from '#src/adapters/inbound/http/core/context.js';
import { routeIndex } from '#src/adapters/inbound/http/pipeline/route-handler.js';

/** The names of the entries that a request for the path passes, in order. */
function passed(path: string, isTaken: (name: string) => boolean = () => true): string[] {
  const names: string[] = [];
  const entry = (name: string, template: string, pattern: RegExp) => ({
    template,
    path: pattern,
    handle: ((ctx, next) => {
      names.push(`${name} ${ctx['captures']}`.trim());
      return isTaken(name) ? undefined : next();
    }) satisfies Middleware,
  });
  const run = routeIndex([
    entry('items', '/v1/items', /^(?:\/v1)?\/items$/),
    entry('item', '/v1/items/{id}', /^(?:\/v1)?\/items\/(\d+)$/),
    entry('item v2', '/v2/items/{id}', /^(?:\/v2)?\/items\/(\d+)$/),
    entry('page', '/page.json', /^\/page\.json$/),
  ]);
  run({ path } as Context, () => {
    names.push('none');
  });
  return names;
}

describe('routeIndex', () => {
  it('runs the first entry whose pattern matches, with its captures', () => {
    expect(passed('/v1/items')).to.deep.equal(['items']);
    expect(passed('/items/7')).to.deep.equal(['item 7']);
    expect(passed('/v2/items/8')).to.deep.equal(['item v2 8']);
    expect(passed('/page.json')).to.deep.equal(['page']);
  });

  it('runs the next entry that matches if the first does not take the request', () => {
    expect(passed('/items/7', (name) => name === 'item v2')).to.deep.equal(['item 7', 'item v2 7']);
    expect(passed('/items/7', () => false)).to.deep.equal(['item 7', 'item v2 7', 'none']);
  });

  for (const path of ['/', '', '/v1', '/v3/items', '/items/', '/Items', '/v1/v1/items', '/other', '*'])
    it(`runs no entry for ${JSON.stringify(path)}`, () => expect(passed(path)).to.deep.equal(['none']));
});
