import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { ChildProcessService } from '../../support/child-process-service.js';
import { FIRST_KEY } from '../../support/in-process-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { consolePages } from '../console-page.js';

const COUNT = 10_000;

describe('two consoles that change the same 10,000 products while the service is killed', () => {
  const folder = temporaryFolder();
  let service: ChildProcessService;
  let port = 0;
  const start = async () => {
    service = new ChildProcessService(folder, { BOOTSTRAP_API_KEY: FIRST_KEY, LOG_LEVEL: 'warn', PORT: `${port}` });
    const client = await service.started(FIRST_KEY);
    client.documented = undefined;
    port = await service.listening();
    return client;
  };
  const open = consolePages({
    get port() {
      return port;
    },
  });
  after(() => service.stop('SIGKILL'));

  /** Shows what a tag, and for the first console 5 % on the price, would change in the selected products. */
  const preview = async (page: Page, tag: string, expected: number) => {
    await page.getByRole('button', { name: 'Add tags' }).click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type(tag);
    if (tag === 'a') {
      await page.getByRole('dialog').getByRole('button', { name: 'Change price' }).click();
      await page.getByLabel('Per cent', { exact: true }).fill('5');
    }
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText(`${expected.toLocaleString('en')} would change. Nothing is written yet.`).waitFor();
  };
  /** @returns how many products the console says that it has changed, and how many it has not */
  const told = async (page: Page) => {
    const notice = page.getByRole('dialog').getByText(/^[\d,]+ changed\.$/);
    await notice.waitFor();
    const text = (await page.getByRole('dialog').getByRole('status').first().innerText()).replaceAll(',', '');
    const [, changed = 0, refused = 0] = /^(\d+) changed\.\s*(?:(\d+) not changed)?/.exec(text) ?? [];
    return { changed: Number(changed), refused: Number(refused) };
  };

  it('lose no change, tell each product, and do the rest with what stayed selected', async () => {
    let client = await start();
    const lines = Array.from({ length: COUNT }, (_, at) =>
      JSON.stringify({ name: `Lamp ${at}`, price: { amount: 1_000 + at, currency: 'EUR' } }),
    );
    const headers = { 'Content-Type': 'application/x-ndjson' };
    await client.request('POST', '/v1/products/imports', { headers, body: lines.join('\n') });
    const consoles = await Promise.all(['a', 'b'].map(async (tag) => ({ tag, page: (await open('#/products')).page })));
    for (const { tag, page } of consoles) {
      await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
      await page.getByRole('button', { name: 'Select all 10,000 that match' }).click();
      await page.getByText('10,000 selected').waitFor();
      await preview(page, tag, COUNT);
    }
    for (const { page } of consoles) await page.getByRole('button', { name: 'Change 10,000 products' }).click();
    await Promise.any(consoles.map(({ page }) => page.getByText(/^[1-9]\d? %$/).waitFor()));
    client.close();
    await service.stop('SIGKILL');
    for (const { page } of consoles) await page.getByRole('button', { name: 'Continue' }).waitFor();
    client = await start();
    for (const { page } of consoles) await page.getByRole('button', { name: 'Continue' }).click();
    for (const { tag, page } of consoles) {
      const first = await told(page);
      expect(first.changed + first.refused).to.equal(COUNT);
      await page.getByRole('button', { name: 'Done' }).click();
      if (first.refused === 0) continue;
      await page.getByText(`${first.refused.toLocaleString('en')} selected`).waitFor();
      await preview(page, tag, first.refused);
      await page.getByRole('button', { name: /^Change [\d,]+ products$/ }).click();
      expect(await told(page)).to.deep.equal({ changed: first.refused, refused: 0 });
      await page.getByRole('button', { name: 'Done' }).click();
    }
    const { text } = await client.get('/v1/products?fields=id,version,tags,price', {
      headers: { Accept: 'application/x-ndjson' },
    });
    const records = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(records).to.have.length(COUNT);
    for (const { id, version, tags, price } of records) {
      expect(tags, id).to.have.members(['a', 'b']);
      expect(price.amount, id).to.equal(Math.round((999 + id) * 1.05 + 1e-9));
      expect(version, id).to.equal(3);
    }
    client.close();
  });
});
