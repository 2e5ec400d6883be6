import { Credential } from './credential.js';
import { followDeepLinks } from './deep-links.js';
import { button, element } from './element.js';
import { navigation, othersTitle } from './navigation.js';
import type { OpenApi } from './openapi.js';
import { operationView } from './operation-view.js';
import { type Group, groupsOf } from './operations.js';
import { prose } from './prose.js';
import { References } from './references.js';
import type { TryItContext } from './trial.js';

/** The folder of the page: behind a proxy it may lie deeper than the root. A user in the page's address is none of it. */
const BASE = new URL('.', location.origin + location.pathname).href;
const MAIN = part('main');
const CREDENTIAL = new Credential();

part('credential').replaceWith(CREDENTIAL.view);
await begin();

async function begin(): Promise<void> {
  MAIN.replaceChildren(element('p', { class: 'note', role: 'status' }, 'Reading the document…'));
  try {
    show(await read());
  } catch (error) {
    const what = `The document could not be read (${(error as Error).message}).`;
    MAIN.replaceChildren(
      element('p', { class: 'fault', role: 'alert' }, what),
      button('Try again', () => void begin()),
    );
  }
}

async function read(): Promise<OpenApi> {
  const response = await fetch(`${BASE}openapi.json`);
  if (!response.ok) throw new Error(`the service answered ${response.status}`);
  return (await response.json()) as OpenApi;
}

function show(api: OpenApi): void {
  const { title, version, description = '' } = api.info;
  const references = new References(api);
  const groups = groupsOf(api, references);
  document.title = `${title}: API reference`;
  part('title').replaceChildren(title, ' ', element('span', { class: 'version' }, version));
  const around = { references, credential: CREDENTIAL, base: BASE };
  part('navigation').replaceWith(navigation(groups));
  const about = element('div', { class: 'about' }, prose(description), documentLink(api));
  MAIN.replaceChildren(about, ...groups.map((group) => groupView(group, around)));
  followDeepLinks();
}

function documentLink({ openapi }: OpenApi): HTMLElement {
  return element(
    'p',
    { class: 'note' },
    element('a', { href: 'openapi.json' }, `The document itself (OpenAPI ${openapi})`),
  );
}

function groupView({ name, description, operations, others }: Group, around: TryItContext): HTMLElement {
  const view = (some: Group['operations']) => some.map((operation) => operationView(operation, around));
  const section = element('section', { class: 'group' }, element('h2', {}, name), prose(description));
  section.append(...view(operations));
  if (others.length === 0) return section;
  const count = element('span', { class: 'count' }, String(others.length));
  const summary = element('summary', {}, othersTitle(others), ' ', count);
  section.append(element('details', { class: 'others fold' }, summary, ...view(others)));
  return section;
}

function part(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no ${id}.`);
  return found;
}
