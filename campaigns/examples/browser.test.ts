import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { browser, openContext } from '../../tests/support/browser.js';
import { type ExampleSettings, testExample } from './example-suite.js';

const server = createServer((_, response) => createReadStream('examples/example.html').pipe(response));
await once(server.listen(0, '127.0.0.1'), 'listening');
const PAGE_ORIGIN = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

describe('the example in a browser, in Chromium', () => {
  const chromium = browser();
  testExample((settings) => runPage(chromium(), settings), { CORS_ORIGINS: PAGE_ORIGIN });
  after(() => server.close());
});

/** Fills in the form and presses Run. @throws Error with the status if it is an error */
async function runPage(chromium: Browser, { CATALOGUE_URL, API_KEY }: ExampleSettings): Promise<string> {
  const permissions = ['local-network-access'];
  const context = await openContext(chromium, { permissions });
  try {
    const page = await context.newPage();
    await page.route(`${PAGE_ORIGIN}/example.html`, (route) => route.fulfill({ path: 'examples/example.html' }));
    await page.goto(`${PAGE_ORIGIN}/example.html`);
    await page.getByLabel('Service').fill(CATALOGUE_URL);
    await page.getByLabel('API key').fill(API_KEY);
    await page.getByLabel('Products').setInputFiles('examples/products.ndjson');
    await page.getByRole('button', { name: 'Run' }).click();
    const ended = page.getByRole('status').filter({ hasText: /^Finished$|Error/ });
    const status = await ended.textContent();
    if (status !== 'Finished') throw new Error(`The page says: ${status}`);
    return String(await page.getByRole('log').textContent());
  } finally {
    await context.close();
  }
}
