import { expect } from 'chai';
import { inProcessService } from '../support/in-process-service.js';
import { APPEARANCES, expectAccessible } from './accessibility.js';
import { docsPages } from './docs-page.js';

describe('the page at /docs, for everybody', () => {
  const service = inProcessService();
  const open = docsPages(service);

  for (const [appearance, options] of Object.entries(APPEARANCES))
    describe(`has no axe violations and no horizontal scroll ${appearance}`, () => {
      it('on its first page, and while the person searches', async () => {
        const docs = await open(options);
        await docs.page.locator('.operation').first().waitFor();
        await docs.pasteKey();
        await expectAccessible(docs.page, 'first page');
        await docs.page.locator('main').click({ position: { x: 1, y: 1 } });
        await docs.page.keyboard.press('/');
        await docs.page.keyboard.type('currency');
        await docs.page.locator('nav .excerpt:visible').first().waitFor();
        await expectAccessible(docs.page, 'search');
      });

      it('on operations with filters, code, a response and all documentation unfolded', async () => {
        const docs = await open(options);
        await docs.pasteKey();
        const creating = await docs.operation('createProduct');
        await creating.send();
        await creating.element.locator('.received').waitFor();
        for (const summary of await creating.element.locator('details summary').all())
          if (await summary.isVisible()) await summary.click();
        const listing = await docs.operation('listProducts');
        await listing.addFilter('price.amount', 'in', '1,2');
        await listing.addFilter('attributes.*', undefined, 'green');
        await listing.element.getByLabel('Go', { exact: true }).check();
        await listing.send();
        await listing.element.locator('.received').waitFor();
        await expectAccessible(docs.page, 'operations');
        await docs.pasteKey('');
        await listing.send();
        await listing.element.getByRole('link', { name: 'unauthenticated' }).first().waitFor();
        await expectAccessible(docs.page, 'error response');
      });

      for (const hash of ['#/models', '#/errors'])
        it(`on ${hash}`, async () => {
          const docs = await open(options);
          await docs.show(hash);
          await expectAccessible(docs.page, hash);
        });
    });

  it('reports the outcome of a request in a live region', async () => {
    const docs = await open();
    const shown = await docs.operation('listProducts');
    await shown.send();
    await shown.element.getByRole('status').getByText('401 Unauthorized').waitFor();
  });

  it('scrolls without animation if the person prefers reduced motion', async () => {
    for (const [reducedMotion, behaviour] of [
      ['reduce', 'auto'],
      ['no-preference', 'smooth'],
    ] as const) {
      const { page } = await open({ reducedMotion });
      const scrolls = await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior);
      expect(scrolls).to.equal(behaviour);
    }
  });
});
