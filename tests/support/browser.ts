import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';

const { CHROMIUM = '/usr/bin/chromium' } = process.env;

/** A guard against a wait without end, for each wait of Playwright. */
const LIMIT_MS = 60_000;

/** The browser of this process. Its start takes as long as several tests, so all of them use one. */
let launched: Promise<Browser> | undefined;

/** Launches the browser of this process for the tests of one `describe`. @returns a function that gives it */
export function browser(): () => Browser {
  let current: Browser | undefined;
  before(async () => {
    launched ??= launch();
    current = await launched;
  });
  return () => current as Browser;
}

after(async () => {
  await (await launched)?.close();
  launched = undefined;
});

async function launch(): Promise<Browser> {
  if (!existsSync(CHROMIUM))
    throw new Error(
      `${CHROMIUM} is missing; on Debian: apt-get install -y chromium; elsewhere set CHROMIUM to its path`,
    );
  const args = ['--no-sandbox', '--disable-dev-shm-usage'];
  return chromium.launch({ executablePath: CHROMIUM, args, timeout: LIMIT_MS });
}

/** Opens a context that trusts every certificate and moves nothing: movements could distort measurements. */
export async function openContext(opener: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await opener.newContext({ ignoreHTTPSErrors: true, reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(LIMIT_MS);
  return context;
}
