import { readFileSync } from 'node:fs';
import type { BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { browser, openContext } from '../support/browser.js';
import { FIRST_KEY, type InProcessService } from '../support/in-process-service.js';

interface Opening extends BrowserContextOptions {
  /** If it is null, nobody signs in. */
  readonly key?: string | null;
  /** Runs before anything is loaded. */
  readonly prepare?: (page: Page) => Promise<unknown>;
}

/** The page at /console in a browser, with what the browser reports as errors. */
export interface ConsolePage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Uncaught errors, and violations of the Content-Security-Policy. */
  readonly errors: string[];
}

/** Returns a function that opens the console, signed in, for the tests of one `describe`. */
export function consolePages(
  service: Pick<InProcessService, 'port'>,
): (hash?: string, options?: Opening) => Promise<ConsolePage> {
  const launched = browser();
  const contexts: BrowserContext[] = [];
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  return async (hash = '', { key = FIRST_KEY, prepare = async () => {}, ...options } = {}) => {
    const context = await openContext(launched(), options);
    contexts.push(context);
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
      if (/Content Security Policy|Refused to/.test(message.text())) errors.push(message.text());
    });
    await prepare(page);
    await page.goto(`https://localhost:${service.port}/console${hash}`);
    if (key !== null) await signIn(page, key);
    return { page, context, errors };
  };
}

export async function signIn(page: Page, key = FIRST_KEY): Promise<void> {
  await page.getByLabel('API key or access token').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('banner').waitFor();
}

export async function signOut(page: Page): Promise<void> {
  await button(page, 'Settings').click();
  await button(page, 'Sign out').click();
}

/** The button with exactly this name. */
export const button = (page: Page | Locator, name: string) => page.getByRole('button', { name, exact: true });

/** A field of a form. One that other values complete is a combobox. */
export const field = (page: Page | Locator, name: string) =>
  page.getByRole('textbox', { name, exact: true }).or(page.getByRole('combobox', { name, exact: true }));

/** Goes to another page of the console by its fragment. */
export const show = (page: Page, hash: string) => page.goto(page.url().replace(/#.*/, hash));

export const isFocused = (one: Locator) => one.evaluate((element) => element === document.activeElement);

/** Chooses a file to import. */
export const choose = (page: Page, name: string, content: string | Buffer) =>
  page.locator('input[type=file]').setInputFiles({ name, mimeType: '', buffer: Buffer.from(content) });

/** Records as NDJSON. */
export const linesOf = (...records: readonly object[]) => records.map((record) => JSON.stringify(record)).join('\n');

/** Presses a button that saves a file. */
export async function download(page: Page, name: string): Promise<{ readonly name: string; readonly text: string }> {
  const [file] = await Promise.all([page.waitForEvent('download'), button(page, name).click()]);
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
}

/** Creates a key with these scopes. */
export async function keyWith({ client }: Pick<InProcessService, 'client'>, ...scopes: readonly string[]) {
  const { json } = await client.post('/v1/api-keys', { name: 'test', scopes });
  return json as { readonly id: number; readonly key: string };
}
