import { existsSync } from 'node:fs';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';

const { CHROMIUM = '/usr/bin/chromium' } = process.env;

/** A browser for the tests of one `describe`. */
export function browser(): () => Browser {
  let launched: Browser | undefined;
  before(async () => {
    if (!existsSync(CHROMIUM))
      throw new Error(
        `${CHROMIUM} is missing; on Debian: apt-get install -y chromium; elsewhere name one in CHROMIUM`,
      );
    launched = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
  });
  after(() => launched?.close());
  return () => launched as Browser;
}

/** The page at /docs as a person has it open, and what the browser had to complain of. */
export class DocsPage {
  /** What was thrown, and what was written to the console: what a policy keeps from happening too. */
  readonly complaints: string[] = [];
  /** Where anything was asked for. */
  readonly origins = new Set<string>();

  private constructor(
    readonly page: Page,
    readonly context: BrowserContext,
    readonly address: string,
  ) {
    page.on('console', (message) => this.complaints.push(message.text()));
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('request', (request) => this.origins.add(new URL(request.url()).origin));
  }

  /** @param prepare before anything is loaded */
  static async open(
    browser: Browser,
    address: string,
    options: BrowserContextOptions = {},
    prepare: (page: Page) => Promise<unknown> = async () => {},
  ): Promise<DocsPage> {
    // Animations that last would have pictures and measures taken in mid-way.
    const defaults = { ignoreHTTPSErrors: true, reducedMotion: 'reduce' } as const;
    const context = await browser.newContext({ ...defaults, ...options });
    context.setDefaultTimeout(10_000);
    const docs = new DocsPage(await context.newPage(), context, address);
    await prepare(docs.page);
    await docs.page.goto(address);
    return docs;
  }

  /** Opens an operation by its name. */
  async operation(id: string) {
    const shown = this.page.locator(`[id="${id}"]`);
    await this.page.goto(`${this.address}#${id}`);
    await shown.locator('form').waitFor();
    return shown;
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
