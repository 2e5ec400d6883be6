import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { AT_NIGHT } from '../support/run-settings.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const WIDE = { width: 1600, height: 900 };
export const PHONE = { width: 360, height: 740 };

/** How a page is shown: the gate takes both palettes and the two ends of the widths, each once. */
export const APPEARANCES: Readonly<Record<string, BrowserContextOptions>> = {
  'in light': { colorScheme: 'light', viewport: WIDE },
  'on a phone in dark': { colorScheme: 'dark', viewport: PHONE, hasTouch: true },
  ...(AT_NIGHT && {
    'in dark': { colorScheme: 'dark', viewport: WIDE },
    'on a tablet': { colorScheme: 'dark', viewport: { width: 820, height: 1180 }, hasTouch: true },
    'on a phone in light': { colorScheme: 'light', viewport: PHONE, hasTouch: true },
    // A window of 1280 pixels at 200 %.
    'at 200 %': { colorScheme: 'light', viewport: { width: 640, height: 450 } },
  }),
};

/** Runs in the page. */
interface Axe {
  run(options: RunOptions): Promise<AxeResults>;
}

/** @throws AssertionError if axe-core finds something on the page as it is, or if the page scrolls horizontally */
export async function expectAccessible(page: Page, what: string): Promise<void> {
  // A document keeps axe until it is left.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  const violations = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { readonly axe: Axe };
    const results = await axe.run({
      // Otherwise axe describes every element that passes, which takes longer than the rules.
      resultTypes: ['violations'],
      selectors: false,
      // The pages have neither frames nor style sheets and media of other origins.
      iframes: false,
      preload: false,
    });
    return results.violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
  });
  expect(violations, what).to.deep.equal([]);
  const [content, window] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
  expect(content, what).to.equal(window);
}
