import { Credential } from './credential.js';
import { downloads } from './download.js';
import { button, element } from './element.js';
import { type ErrorCodes, errorEntries, errorsPage } from './errors-page.js';
import { markdown } from './markdown.js';
import { modelNames, modelsPage } from './models-page.js';
import { type NavigationSection, navigation } from './navigation.js';
import type { OpenApi } from './openapi.js';
import { methodBadge, operationView } from './operation-view.js';
import { type Group, groupsOf } from './operations.js';
import { References } from './references.js';
import { startRouter } from './router.js';
import { errorEntry, modelEntry, operationEntry } from './search-index.js';
import type { TryItContext } from './try-it-form.js';

/**
 * The URL of the page's folder, which may lie deeper than the root behind a proxy. It has no user of the page's URL.
 */
const BASE = new URL('.', location.origin + location.pathname).href;
const MAIN = part('main');
const CREDENTIAL = new Credential();

part('credential').replaceWith(CREDENTIAL.view);
await begin();

async function begin(): Promise<void> {
  MAIN.replaceChildren(element('p', { class: 'note', role: 'status' }, 'Reading the document…'));
  try {
    const [document, codes] = await Promise.all([read('openapi.json'), read('docs/errors.json')]);
    show((await document.json()) as OpenApi, (await codes.json()) as ErrorCodes, usesOwnCa(document));
  } catch (error) {
    const problem = `The document could not be read (${(error as Error).message}).`;
    MAIN.replaceChildren(
      element('p', { class: 'error', role: 'alert' }, problem),
      button('Try again', () => void begin()),
    );
  }
}

async function read(file: string): Promise<Response> {
  const response = await fetch(`${BASE}${file}`);
  if (!response.ok) throw new Error(`the response was ${response.status}`);
  return response;
}

/** The service sends Strict-Transport-Security over HTTPS, unless it made its certificate itself. */
function usesOwnCa({ headers }: Response): boolean {
  return location.protocol === 'https:' && !headers.has('strict-transport-security');
}

function show(api: OpenApi, codes: ErrorCodes, ownCa: boolean): void {
  const { title, version, description = '' } = api.info;
  const references = new References(api);
  const groups = groupsOf(api, references);
  const context = { references, credential: CREDENTIAL, base: BASE, usesOwnCa: ownCa };
  document.title = `${title}: API reference`;
  part('title').replaceChildren(title, ' ', element('span', { class: 'version' }, version));
  MAIN.replaceChildren();
  const about = element('div', { class: 'about' }, markdown(description), downloads(api));
  const operations = () => element('div', {}, about, ...groups.map((group) => groupView(group, context)));
  const pages = new Map([
    ['', { title: 'Operations', build: operations }],
    ['/models', { title: 'Models', build: () => modelsPage(api, groups, references) }],
    ['/errors', { title: 'Error codes', build: () => errorsPage(codes, api, groups) }],
  ]);
  part('navigation').replaceWith(navigation(pages, sections(api, groups, codes, references)));
  startRouter(MAIN, pages);
}

function sections(
  api: OpenApi,
  groups: readonly Group[],
  codes: ErrorCodes,
  references: References,
): NavigationSection[] {
  const operations = groups.map(({ name, operations: own }) => ({
    title: name,
    links: own.map((operation) => ({
      id: operation.id,
      label: [
        methodBadge(operation.method),
        ' ',
        element('span', {}, operation.summary === '' ? operation.path : operation.summary),
      ],
      entry: operationEntry(operation),
    })),
  }));
  const models = modelNames(api).map((name) => ({
    id: `/models/${name}`,
    label: [element('code', {}, name)],
    entry: modelEntry(name, references),
  }));
  const errors = errorEntries(codes).map(([id, { code, cause, remedy }]) => ({
    id,
    label: [element('code', {}, code)],
    entry: errorEntry(code, cause, remedy),
  }));
  return [
    ...operations,
    { title: 'Models', isFolded: true, links: models },
    { title: 'Error codes', isFolded: true, links: errors },
  ];
}

function groupView({ name, description, operations }: Group, context: TryItContext): HTMLElement {
  const views = operations.map((operation) => operationView(operation, context));
  return element('section', { class: 'group' }, element('h2', {}, name), markdown(description), ...views);
}

function part(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no ${id}.`);
  return found;
}
