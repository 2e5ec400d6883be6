import { expect } from 'chai';
import { catalogueService } from './catalogue-service.js';

describe('the collections of the client', () => {
  const { connect } = catalogueService();

  it('are those of the document: packages/client/src/resource-types.ts', async () => {
    const catalogue = connect();
    const { data } = await catalogue.GET('/openapi.json');
    const { paths } = data as unknown as { paths: object };
    const collections = Object.keys(paths).flatMap((path) => /^\/v1\/([^/]+)$/.exec(path)?.[1] ?? []);
    const names = collections.map((name) => name.replaceAll(/-(.)/g, (_, letter) => letter.toUpperCase()));
    expect(names).to.not.deep.equal([]);
    expect(catalogue).to.include.all.keys(names);
  });
});
