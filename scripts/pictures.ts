/** Takes the pictures of `docs/how-to/console.md` of a service with the sample products: `npm run docs:pictures`. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { compose } from '#src/composition/application.js';
import { loadSettings } from '#src/config/settings.js';
import { Service } from '#src/process/service.js';

const FOLDER = 'docs/pictures';
/** Of the temporary service alone. */
const KEY = `pcs_${'0'.repeat(30)}0B9c15`;
const { CHROMIUM = '/usr/bin/chromium' } = process.env;

/** A file as a spreadsheet would hold it. The first SKU is that of a sample. */
const FILE = [
  'sku;name;price.decimal;price.currency;stock',
  'WAT-1-00001;Watering can 5 l;32,90;EUR;60',
  'WAT-1-00005;Garden hose 25 m;44,95;EUR;18',
  'WAT-2-1;Rain barrel 200 l;79,00;EUR;12',
].join('\n');

/** What is done before each picture, by its name, in this order. */
const PICTURES: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  'console-list': async (page) => {
    await page.getByRole('button', { name: 'Load samples' }).click();
    await page.getByText('200 sample products are loaded.').waitFor();
    await page.reload();
    await page.getByRole('checkbox', { name: /^Alder/ }).waitFor();
    for (const at of [2, 3, 4]) await page.getByRole('row').nth(at).getByRole('checkbox').check();
  },
  'console-product': async (page) => {
    await page.getByRole('link', { name: 'Indoor watering can 1 l, sage' }).click();
    await page.getByRole('link', { name: 'Next' }).waitFor();
    await page.getByRole('button', { name: /^Save/ }).waitFor();
  },
  'console-import': async (page) => {
    await page.goto(`${page.url().replace(/#.*/, '')}#/import/products`);
    const file = { name: 'spring.csv', mimeType: 'text/csv', buffer: Buffer.from(FILE) };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('button', { name: 'Check the file' }).click();
    await page.getByText('Nothing is written yet').waitFor();
    await page.getByRole('button', { name: 'Start import' }).waitFor();
  },
};

const data = mkdtempSync(join(tmpdir(), 'pictures-'));
const settings = { PORT: '0', MANAGEMENT_PORT: '0', DATA_DIR: data, LOG_LEVEL: 'silent', BOOTSTRAP_API_KEY: KEY };
const service = new Service(await compose(loadSettings(settings)));
const { port } = await service.start();
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
try {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    locale: 'en-GB',
    reducedMotion: 'reduce',
    viewport: { width: 1280, height: 800 },
  });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  mkdirSync(FOLDER, { recursive: true });
  await page.goto(`https://localhost:${port}/console`);
  await page.getByLabel('API key or access token').fill(KEY);
  await page.getByRole('button', { name: 'Sign in' }).click();
  for (const [name, prepare] of Object.entries(PICTURES)) {
    await prepare(page);
    const { data: bytes } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 });
    writeFileSync(join(FOLDER, `${name}.webp`), Buffer.from(bytes, 'base64'));
  }
} finally {
  await browser.close();
  await service.stop();
  rmSync(data, { recursive: true, force: true });
}
