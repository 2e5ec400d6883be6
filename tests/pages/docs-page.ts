import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { browser, openContext } from '../support/browser.js';
import { FIRST_KEY, type InProcessService } from '../support/in-process-service.js';

interface Opening extends BrowserContextOptions {
  /** Runs before anything is loaded. */
  readonly prepare?: (page: Page) => Promise<unknown>;
  /** What follows the path in the URL, such as `#/models`. */
  readonly hash?: string;
}

/** Returns a function that opens the page at /docs of a service, for the tests of one `describe`. */
export function docsPages(service: InProcessService): (options?: Opening) => Promise<DocsPage> {
  const launched = browser();
  const pages: DocsPage[] = [];
  afterEach(async () => {
    for (const docs of pages.splice(0)) await docs.context.close();
  });
  return async (options) => {
    const docs = await DocsPage.open(launched(), `https://localhost:${service.port}/docs`, options);
    pages.push(docs);
    return docs;
  };
}

/** The page at /docs in a browser, with the errors that the browser reports. */
export class DocsPage {
  /** Uncaught errors and console messages, which include violations of the Content-Security-Policy. */
  readonly errors: string[] = [];
  /** The origins of all requests. */
  readonly origins = new Set<string>();

  private constructor(
    readonly page: Page,
    readonly context: BrowserContext,
    readonly url: string,
  ) {
    page.on('console', (message) => this.errors.push(message.text()));
    page.on('pageerror', (error) => this.errors.push(String(error)));
    page.on('request', (request) => this.origins.add(new URL(request.url()).origin));
  }

  static async open(
    browser: Browser,
    url: string,
    { prepare = async () => {}, hash = '', ...options }: Opening = {},
  ): Promise<DocsPage> {
    const context = await openContext(browser, options);
    const docs = new DocsPage(await context.newPage(), context, url);
    await prepare(docs.page);
    await docs.page.goto(`${url}${hash}`);
    return docs;
  }

  get keyField(): Locator {
    return this.page.getByLabel('API key or access token');
  }

  get search(): Locator {
    return this.page.getByLabel('Search');
  }

  /** The heading or summary that has the focus. */
  get focused(): Locator {
    return this.page.locator(':focus');
  }

  pasteKey(key = FIRST_KEY): Promise<void> {
    return this.keyField.fill(key);
  }

  /** Opens an operation by its id. */
  async operation(id: string): Promise<OperationPart> {
    const element = this.page.locator(`[id="${id}"]`);
    await this.page.goto(`${this.url}#${id}`);
    await element.locator('form').waitFor();
    return new OperationPart(element);
  }

  /** Shows a page by its fragment, such as `#/models`. */
  async show(hash: string): Promise<void> {
    await this.page.goto(`${this.url}${hash}`);
    await this.page.locator(`[id="${hash.slice(1)}"]`).waitFor();
  }
}

/** An open operation of the page. */
export class OperationPart {
  constructor(readonly element: Locator) {}

  send(): Promise<void> {
    return this.element.getByRole('button', { name: 'Send', exact: true }).click();
  }

  status(): Promise<string | null> {
    return this.element.locator('.status-line .status').textContent();
  }

  async body(): Promise<string> {
    return String(await this.element.locator('.response-body').textContent());
  }

  async headers(): Promise<string> {
    return String(await this.element.locator('.response-headers').textContent());
  }

  async code(): Promise<string> {
    return String(await this.element.locator('pre.code').textContent());
  }

  fillBody(text: string): Promise<void> {
    return this.element.getByLabel('Content', { exact: true }).fill(text);
  }

  /** Fills the field of a parameter, which may be folded. */
  async fill(name: string, value: string): Promise<void> {
    const headers = this.element.locator('form summary', { hasText: 'Headers' });
    const field = this.element
      .locator('form .field')
      .filter({ has: this.element.page().locator(`label code:text-is("${name}")`) })
      .locator('input');
    if ((await field.count()) === 0) await headers.click();
    await field.fill(value);
  }

  /** Adds a filter. @returns its row */
  async addFilter(field: string, operator: string | undefined, value: string): Promise<Locator> {
    const rows = this.element.getByRole('group', { name: 'Filter', exact: true });
    const row = rows.nth(await rows.count());
    await this.element.getByRole('button', { name: 'Add filter' }).click();
    await row.getByLabel('Field').selectOption(field);
    if (operator !== undefined) await row.getByLabel('Operator').selectOption(operator);
    const control = row.getByLabel('Value');
    if (await control.evaluate((one) => one.matches('select'))) await control.selectOption(value);
    else await control.fill(value);
    return row;
  }
}

/** An operation as the OpenAPI document describes it. */
export interface DocumentedOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly hasBody: boolean;
  readonly parameters: readonly string[];
}

// biome-ignore lint/suspicious/noExplicitAny: the structure of an OpenAPI document is not typed
type Node = any;

/** Reads the operations of an OpenAPI document, without the code of the page. */
export function documentedOperations(document: Node): DocumentedOperation[] {
  const nameOf = ({ $ref, name }: Node): string =>
    $ref === undefined ? name : document.components.parameters[$ref.split('/').pop()].name;
  return Object.entries<Node>(document.paths).flatMap(([path, item]) =>
    Object.entries<Node>(item)
      .filter(([, { operationId }]) => operationId !== undefined)
      .map(([method, { operationId, parameters = [], requestBody }]) => ({
        id: operationId,
        method: method.toUpperCase(),
        path,
        hasBody: requestBody !== undefined,
        parameters: [...(item.parameters ?? []), ...parameters].map(nameOf),
      })),
  );
}
