import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { load } from 'js-yaml';
import { inProcessService } from '../../support/in-process-service.js';
import { docsPages } from '../docs-page.js';

describe('the models, error codes and downloads of the page at /docs', () => {
  const service = inProcessService();
  const open = docsPages(service);

  it('show every model with its members, an example and the operations that use it', async () => {
    const docs = await open();
    await docs.show('#/models/Product');
    const { page } = docs;
    const { json: document } = await service.client.get('/openapi.json');
    const names = Object.keys(document.components.schemas);
    expect(await page.locator('.entry h3:visible').allTextContents()).to.deep.equal(names);
    const product = page.getByRole('article', { name: 'Product', exact: true });
    const members = await product.locator('.schema .name').allTextContents();
    expect(members).to.include.members(['id', 'name', 'price', 'attributes']);
    const example = JSON.parse(String(await product.locator('.example').textContent()));
    expect(example).to.include.keys('id', 'name');
    await product.getByRole('link', { name: 'List products' }).click();
    await page.locator('[id="listProducts"] form').waitFor();
  });

  it('lead from a response to its model', async () => {
    const docs = await open();
    const { element } = await docs.operation('listUsers');
    await element.locator('.documented > summary').first().click();
    await element.locator('.documented').first().getByRole('link', { name: 'User' }).first().click();
    await docs.page.locator('[id^="/models/User"]:focus').waitFor();
  });

  it('show every error code with its status, cause and remedy', async () => {
    const docs = await open();
    await docs.show('#/errors');
    const { json: codes } = await service.client.get('/docs/errors.json');
    const all = [...codes.responses, ...codes.details, ...codes.oauth];
    expect(await docs.page.locator('.entry h3:visible').allTextContents()).to.deep.equal(all.map(({ code }) => code));
    const plain = (text: string) => text.replaceAll(/`([^`]*)`|\*/g, '$1');
    const sections = await docs.page.locator('.entry:visible').allTextContents();
    for (const [at, { code, cause, remedy, status, reason }] of all.entries()) {
      expect(sections[at], code).to.include(plain(cause)).and.include(plain(remedy));
      if (status !== undefined) expect(sections[at], code).to.include(`${status} ${reason}`);
    }
  });

  for (const [name, parse] of [
    ['JSON', JSON.parse],
    ['YAML', load],
  ] as const)
    it(`save the document as ${name}`, async () => {
      const docs = await open();
      const saved = docs.page.waitForEvent('download');
      await docs.page.locator('.downloads').getByText(name).click();
      const download = await saved;
      expect(download.suggestedFilename()).to.equal(`openapi.${name.toLowerCase()}`);
      const { json: document } = await service.client.get('/openapi.json');
      expect(parse(await readFile(await download.path(), 'utf8'))).to.deep.equal(document);
      expect(docs.errors).to.deep.equal([]);
    });
});
