import { expect } from 'chai';
import { FIRST_KEY, inProcessService } from '../../support/in-process-service.js';
import { docsPages, documentedOperations } from '../docs-page.js';

const PHONE = { width: 360, height: 740 };

describe('the navigation of the page at /docs', () => {
  const service = inProcessService();
  const open = docsPages(service);

  it('lists exactly the operations, models and error codes of the service', async () => {
    const { page } = await open();
    await page.locator('.operation').first().waitFor();
    const { json: document } = await service.client.get('/openapi.json');
    const { json: codes } = await service.client.get('/docs/errors.json');
    const operations = documentedOperations(document);
    const shown = await page
      .locator('.operation > summary')
      .evaluateAll((all) =>
        all.map((one) => ['.method', '.path'].map((part) => one.querySelector(part)?.textContent).join(' ')),
      );
    const linked = await page.locator('nav a').evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    expect(operations.length).to.be.greaterThan(20);
    expect(codes.responses.length).to.be.greaterThan(25);
    expect(shown).to.have.members(operations.map(({ method, path }) => `${method} ${path}`));
    const entries = (prefix: string, list: { code: string }[]) => list.map(({ code }) => `#/errors/${prefix}${code}`);
    expect(linked).to.have.members([
      ...['#', '#/models', '#/errors'],
      ...operations.map(({ id }) => `#${id}`),
      ...Object.keys(document.components.schemas).map((name) => `#/models/${name}`),
      ...entries('', codes.responses),
      ...entries('details/', codes.details),
      ...entries('oauth/', codes.oauth),
    ]);
  });

  it('leads to what the URL names, below the header', async () => {
    for (const id of ['patchOrder', '/models/Product', '/errors/duplicate_value', '/errors/details/required']) {
      const docs = await open({ hash: `#${id}` });
      const target = docs.page.locator(`summary:focus, h3:focus`);
      await target.waitFor();
      expect(await target.evaluate((one) => one.id || one.parentElement?.id), id).to.equal(id);
      const { y = -1 } = (await target.boundingBox()) ?? {};
      const header = (await docs.page.locator('body > header').boundingBox())?.height ?? 0;
      expect(y, id).to.be.within(header, 500);
      expect(await docs.page.locator(`nav [aria-current]`).getAttribute('href'), id).to.equal(`#${id}`);
    }
  });

  it('shows one page at a time, and the browser goes back to the one before', async () => {
    const docs = await open();
    const { page } = docs;
    const headings = page.getByRole('heading', { level: 2 }).and(page.locator('main *'));
    await page.getByRole('link', { name: 'Models', exact: true }).click();
    await page.getByRole('heading', { name: 'Models' }).and(page.locator('main *')).waitFor();
    expect(await headings.allTextContents()).to.deep.equal(['Models']);
    expect(await page.title()).to.match(/^Models · /);
    await page.getByRole('link', { name: 'Error codes', exact: true }).click();
    await page.locator('main h2').getByText('Error codes').waitFor();
    expect((await headings.allTextContents())[0]).to.equal('Error codes');
    await page.goBack();
    await page.locator('main h2').getByText('Models').waitFor();
    await page.getByRole('link', { name: 'Operations', exact: true }).click();
    await page.locator('.operation').first().waitFor();
    expect(await headings.allTextContents())
      .to.include('Products')
      .and.not.include('Models');
  });

  it('gives the search the focus after /, but not while the person types a text', async () => {
    const docs = await open({ viewport: PHONE });
    await docs.page.locator('.operation').first().waitFor();
    await docs.page.keyboard.press('/');
    expect(await docs.search.evaluate((one) => one === document.activeElement)).to.equal(true);
    expect(await docs.search.inputValue()).to.equal('');
    await docs.page.keyboard.type('deleteOrder');
    await docs.page.keyboard.press('Enter');
    await docs.page.locator('[id="deleteOrder"] form').waitFor();
    await docs.keyField.focus();
    await docs.page.keyboard.press('/');
    expect(await docs.keyField.inputValue()).to.equal('/');
  });

  it('is folded on a narrow screen, and unfolded on a wide one', async () => {
    const { page } = await open({ viewport: PHONE });
    const link = page.locator('nav a[href="#createProduct"]');
    await link.waitFor({ state: 'attached' });
    expect(await link.isVisible()).to.equal(false);
    await page.locator('nav summary', { hasText: 'Contents' }).click();
    await link.click();
    await page.locator('[id="createProduct"] form').waitFor();
    expect(await link.isVisible()).to.equal(false);
    await page.setViewportSize({ width: 1280, height: 900 });
    await link.waitFor({ state: 'visible' });
  });

  it('works with the keyboard only', async () => {
    const docs = await open();
    const { page, focused } = docs;
    await page.locator('.operation').first().waitFor();
    await page.keyboard.press('Tab');
    expect(await focused.textContent()).to.equal('Skip to the content');
    for (let steps = 0; steps < 3 && (await focused.getAttribute('id')) !== 'key'; steps++)
      await page.keyboard.press('Tab');
    await page.keyboard.insertText(FIRST_KEY);
    await docs.page.reload();
    await page.locator('.operation').first().waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    // The router has followed the link too, so that it does not take the focus from what the next keys reach.
    await page.locator('nav a[aria-current]').first().waitFor({ state: 'detached' });
    expect(await focused.getAttribute('id')).to.equal('main');
    const first = page.locator('.operation').first();
    for (let steps = 0; steps < 60 && !(await first.locator('> summary:focus').count()); steps++)
      await page.keyboard.press('Tab');
    expect(await first.locator('> summary:focus').count()).to.equal(1);
    expect(await focused.evaluate((one) => getComputedStyle(one).outlineWidth)).to.equal('2px');
    await page.keyboard.press('Enter');
    await first.locator('form').waitFor();
    for (let steps = 0; steps < 6 && !(await first.locator('input:focus').count()); steps++)
      await page.keyboard.press('Tab');
    await page.keyboard.type('1');
    await page.keyboard.press('Enter');
    await first.locator('.received').waitFor();
    expect(await first.locator('.status-line .status').textContent()).to.equal('200');
  });
});
