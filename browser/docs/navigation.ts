import { type Child, element } from './element.js';
import { methodBadge } from './operation-view.js';
import type { Group, Operation } from './operations.js';

/** On narrower screens the list of operations is closed at first. docs.css uses the same width. */
const NARROW = matchMedia('(max-width: 60rem)');

/** Links to all operations, by tag, with a search field. */
export function navigation(groups: readonly Group[]): HTMLElement {
  const search = element('input', {
    id: 'find',
    type: 'search',
    autocomplete: 'off',
    placeholder: 'path or word',
  });
  const items = new Map<HTMLElement, string>();
  const link = (operation: Operation) => {
    const item = element('li', {}, element('a', { href: `#${operation.id}` }, ...nameOf(operation)));
    items.set(item, `${operation.method} ${operation.path} ${operation.summary}`.toLowerCase());
    return item;
  };
  const folds: HTMLDetailsElement[] = [];
  const sections = groups.map((group) => groupView(group, link, folds));
  const none = element('p', { class: 'note', role: 'status' });
  search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(/\s+/);
    for (const [item, text] of items) item.hidden = !words.every((word) => text.includes(word));
    for (const fold of folds) fold.open = search.value !== '';
    for (const section of sections) section.hidden = !section.querySelector('li:not([hidden])');
    none.textContent = sections.every((section) => section.hidden) ? 'No operation has these words.' : '';
  });
  const find = element(
    'div',
    { class: 'find' },
    element('label', { for: 'find' }, 'Find an operation'),
    search,
  );
  const list = element('details', {}, element('summary', {}, 'Operations'), find, none, ...sections);
  closeIfNarrow(list);
  return element('nav', { 'aria-label': 'Operations' }, list);
}

function nameOf({ method, path, summary }: Operation): Child[] {
  return [methodBadge(method), ' ', element('span', {}, summary === '' ? path : summary)];
}

type Link = (operation: Operation) => HTMLElement;

function groupView(
  { name, operations, others }: Group,
  link: Link,
  folds: HTMLDetailsElement[],
): HTMLElement {
  const section = element('section', {}, element('h2', {}, name), element('ul', {}, ...operations.map(link)));
  if (others.length === 0) return section;
  const count = element('span', { class: 'count' }, String(others.length));
  const summary = element('summary', {}, othersTitle(others), ' ', count);
  const fold = element('details', {}, summary, element('ul', {}, ...others.map(link)));
  folds.push(fold);
  section.append(fold);
  return section;
}

/** The title of the fold around these operations: their methods. */
export function othersTitle(others: readonly Operation[]): string {
  return [...new Set(others.map(({ method }) => method))].join(' and ');
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
