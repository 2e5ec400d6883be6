import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { FIRST_KEY, type InProcessService } from '../support/in-process-service.js';
import { browser } from './docs-page.js';

interface Opening extends BrowserContextOptions {
  readonly key?: string;
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

/** Launches a browser for the tests of one `describe`. @returns a function that opens the console, signed in */
export function consolePages(
  service: InProcessService,
): (hash?: string, options?: Opening) => Promise<ConsolePage> {
  const launched = browser();
  const contexts: BrowserContext[] = [];
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  return async (hash = '', { key = FIRST_KEY, prepare = async () => {}, ...options } = {}) => {
    const defaults = { ignoreHTTPSErrors: true, reducedMotion: 'reduce' } as const;
    const context = await launched().newContext({ ...defaults, ...options });
    contexts.push(context);
    context.setDefaultTimeout(10_000);
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
      if (/Content Security Policy|Refused to/.test(message.text())) errors.push(message.text());
    });
    await prepare(page);
    await page.goto(`https://localhost:${service.port}/console${hash}`);
    await signIn(page, key);
    return { page, context, errors };
  };
}

export async function signIn(page: Page, key = FIRST_KEY): Promise<void> {
  await page.getByLabel('API key or access token').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation').first().waitFor();
}
