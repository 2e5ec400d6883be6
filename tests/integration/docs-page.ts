import { existsSync } from 'node:fs';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';

const { CHROMIUM = '/usr/bin/chromium' } = process.env;

/** Launches a browser for the tests of one `describe`. @returns a function that gives it */
export function browser(): () => Browser {
  let launched: Browser | undefined;
  before(async () => {
    if (!existsSync(CHROMIUM))
      throw new Error(
        `${CHROMIUM} is missing; on Debian: apt-get install -y chromium; elsewhere set CHROMIUM to its path`,
      );
    launched = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
  });
  after(() => launched?.close());
  return () => launched as Browser;
}

/** The page at /docs in a browser, with the errors that the browser reports. */
export class DocsPage {
  /** Uncaught errors and console messages, which include violations of the Content-Security-Policy. */
  readonly complaints: string[] = [];
  /** The origins of all requests. */
  readonly origins = new Set<string>();

  private constructor(
    readonly page: Page,
    readonly context: BrowserContext,
    readonly url: string,
  ) {
    page.on('console', (message) => this.complaints.push(message.text()));
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('request', (request) => this.origins.add(new URL(request.url()).origin));
  }

  /** @param prepare runs before anything is loaded */
  static async open(
    browser: Browser,
    url: string,
    options: BrowserContextOptions = {},
    prepare: (page: Page) => Promise<unknown> = async () => {},
  ): Promise<DocsPage> {
    // Without reduced motion, measurements could happen in the middle of an animation.
    const defaults = { ignoreHTTPSErrors: true, reducedMotion: 'reduce' } as const;
    const context = await browser.newContext({ ...defaults, ...options });
    context.setDefaultTimeout(10_000);
    const docs = new DocsPage(await context.newPage(), context, url);
    await prepare(docs.page);
    await docs.page.goto(url);
    return docs;
  }

  /** Opens an operation by its id. @returns its element */
  async operation(id: string) {
    const element = this.page.locator(`[id="${id}"]`);
    await this.page.goto(`${this.url}#${id}`);
    await element.locator('form').waitFor();
    return element;
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
