import { type Child, element } from './element.js';
import { type SearchEntry, search } from './search-index.js';

/** On narrower screens the contents are closed at first. docs.css uses the same width. */
const NARROW = matchMedia('(max-width: 60rem)');

export interface NavigationLink {
  /** The fragment of its URL. */
  readonly id: string;
  readonly label: readonly Child[];
  readonly entry: SearchEntry;
}

export interface NavigationSection {
  readonly title: string;
  /** Whether the links are folded until the person searches. */
  readonly isFolded?: boolean;
  readonly links: readonly NavigationLink[];
}

interface Item {
  readonly view: HTMLElement;
  readonly excerpt: HTMLElement;
  readonly entry: SearchEntry;
}

/**
 * Links to everything that the page describes, with a search field.
 * @param pages the titles of the pages, by the beginning of their fragment
 */
export function navigation(
  pages: ReadonlyMap<string, { readonly title: string }>,
  sections: readonly NavigationSection[],
): HTMLElement {
  const items: Item[] = [];
  const views = sections.map((section) => sectionView(section, items));
  const field = element('input', {
    id: 'find',
    type: 'search',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-keyshortcuts': '/',
    'aria-describedby': 'found',
  });
  const found = element('p', { id: 'found', class: 'note', role: 'status' });
  field.addEventListener('input', () => {
    const isSearch = field.value.trim() !== '';
    const count = items.filter((item) => show(item, field.value)).length;
    for (const view of views) {
      const fold = view.querySelector('details');
      if (fold) fold.open = isSearch;
      view.hidden = !view.querySelector('li:not([hidden])');
    }
    found.textContent = isSearch ? `${count === 0 ? 'Nothing' : count} found.` : '';
  });
  field.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter')
      items
        .find(({ view }) => !view.hidden)
        ?.view.querySelector('a')
        ?.click();
  });
  const key = element('kbd', { 'aria-hidden': 'true' }, '/');
  const label = element('label', { for: 'find' }, 'Search ', key);
  const find = element('div', { class: 'find', role: 'search' }, label, field, found);
  const titles = [...pages].map(([id, { title }]) => element('li', {}, element('a', { href: `#${id}` }, title)));
  const start = element('ul', { class: 'pages' }, ...titles);
  const list = element('details', {}, element('summary', {}, 'Contents'), find, start, ...views);
  closeIfNarrow(list);
  focusBySlash(field, list);
  return element('nav', { 'aria-label': 'Reference' }, list);
}

/** @returns whether the item has the words */
function show({ view, excerpt, entry }: Item, query: string): boolean {
  const result = search(entry, query);
  view.hidden = result === undefined;
  excerpt.textContent = result?.excerpt ?? '';
  excerpt.hidden = excerpt.textContent === '';
  return result !== undefined;
}

function sectionView({ title, isFolded, links }: NavigationSection, items: Item[]): HTMLElement {
  const list = element('ul', {}, ...links.map((link) => itemView(link, items)));
  const content = isFolded ? element('details', {}, element('summary', {}, `All ${links.length}`), list) : list;
  return element('section', {}, element('h2', {}, title), content);
}

function itemView({ id, label, entry }: NavigationLink, items: Item[]): HTMLElement {
  const excerpt = element('span', { class: 'excerpt', hidden: true });
  const view = element('li', {}, element('a', { href: `#${id}` }, ...label, excerpt));
  items.push({ view, excerpt, entry });
  return view;
}

function closeIfNarrow(list: HTMLDetailsElement): void {
  const adapt = () => {
    list.open = !NARROW.matches;
  };
  NARROW.addEventListener('change', adapt);
  list.addEventListener('click', ({ target }) => {
    if (NARROW.matches && (target as Element).closest('a')) list.open = false;
  });
  adapt();
}

/** The key `/` focuses the search, unless the person types a text. */
function focusBySlash(field: HTMLInputElement, list: HTMLDetailsElement): void {
  addEventListener('keydown', (event) => {
    const isTyping = (event.target as Element).matches(
      'input:not([type="radio"], [type="checkbox"]), textarea, select',
    );
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    event.preventDefault();
    list.open = true;
    field.focus();
    field.select();
  });
}
