import { expect } from 'chai';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { type DocsPage, docsPages } from './docs-page.js';

describe('the key on the page at /docs', () => {
  const service = inProcessService();
  const open = docsPages(service);
  const keepBox = ({ page }: DocsPage) => page.getByLabel('Keep on reload');
  /** Everything in which a page can leave a text. */
  const stored = async ({ page, context }: DocsPage) => {
    const [session, others] = await page.evaluate(async () => [
      JSON.stringify({ ...sessionStorage }),
      JSON.stringify([
        { ...localStorage },
        document.cookie,
        location.href,
        history.state,
        document.documentElement.outerHTML,
        await indexedDB.databases(),
        await caches.keys(),
      ]),
    ]);
    return { session, others: `${others}${JSON.stringify(await context.storageState({ indexedDB: true }))}` };
  };

  it('survives a reload of the tab, in its session storage only', async () => {
    const docs = await open();
    await docs.pasteKey(`Authorization: Bearer ${FIRST_KEY}`);
    const shown = await docs.operation('listProducts');
    await shown.send();
    expect(await shown.status()).to.equal('200');
    const { session, others } = await stored(docs);
    expect(session).to.include(FIRST_KEY);
    expect(others).to.not.include('pcs_0');
    await docs.page.reload();
    expect(await docs.keyField.inputValue()).to.equal(FIRST_KEY);
    const again = await docs.operation('listProducts');
    await again.send();
    expect(await again.status()).to.equal('200');
  });

  it('is not stored if the person unchecks that, and a reload forgets it', async () => {
    const docs = await open();
    await docs.pasteKey();
    await keepBox(docs).uncheck();
    const { session, others } = await stored(docs);
    expect(`${session}${others}`).to.not.include('pcs_0');
    await docs.page.getByText('Forgotten when this page is reloaded.').waitFor();
    await docs.page.reload();
    expect(await docs.keyField.inputValue()).to.equal('');
    expect(await keepBox(docs).isChecked()).to.equal(false);
    await docs.pasteKey();
    expect((await stored(docs)).session).to.not.include('pcs_0');
    await keepBox(docs).check();
    expect((await stored(docs)).session).to.include(FIRST_KEY);
  });

  it('is gone after the person signs out', async () => {
    const docs = await open();
    await docs.pasteKey();
    await docs.page.getByRole('button', { name: 'Sign out' }).click();
    expect(await docs.keyField.inputValue()).to.equal('');
    const { session, others } = await stored(docs);
    expect(`${session}${others}`).to.not.include('pcs_0');
    const shown = await docs.operation('listProducts');
    await shown.send();
    expect(await shown.status()).to.equal('401');
    await docs.page.reload();
    expect(await docs.keyField.inputValue()).to.equal('');
  });

  it('works in a browser that blocks storage, until a reload', async () => {
    const docs = await open({
      prepare: (page) =>
        page.addInitScript(() => {
          Object.defineProperty(globalThis, 'sessionStorage', {
            get: () => {
              throw new DOMException('Access is denied', 'SecurityError');
            },
          });
        }),
    });
    await docs.pasteKey();
    expect(await keepBox(docs).isDisabled()).to.equal(true);
    const shown = await docs.operation('listProducts');
    await shown.element.getByLabel('Python').check();
    expect(await shown.code()).to.match(/^import os\n/);
    await shown.send();
    expect(await shown.status()).to.equal('200');
    expect(docs.errors).to.deep.equal([]);
  });

  it('is hidden until the person shows it', async () => {
    const docs = await open();
    await docs.pasteKey();
    const textSecurity = () =>
      docs.keyField.evaluate((input) => getComputedStyle(input).getPropertyValue('-webkit-text-security'));
    expect(await textSecurity()).to.equal('disc');
    await docs.page.getByRole('button', { name: 'Show', pressed: false }).click();
    expect(await textSecurity()).to.equal('none');
    await docs.page.getByRole('button', { name: 'Show', pressed: true }).click();
    expect(await textSecurity()).to.equal('disc');
  });

  it('is reported if it has characters that no header can have', async () => {
    const docs = await open();
    await docs.pasteKey('pcs_ä');
    await docs.page.getByText('This has characters that cannot be in a key.').waitFor();
    expect(await docs.keyField.getAttribute('aria-invalid')).to.equal('true');
  });
});
