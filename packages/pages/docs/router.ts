/** A page within the page. It is built when it is first shown. */
export interface Page {
  readonly title: string;
  build(): HTMLElement;
}

/**
 * Shows the page that the URL's fragment names, such as `#/models/Product`, and opens and focuses the element with that
 * id. Every other fragment, such as `#listProducts`, belongs to the first page.
 * @param pages the pages by the beginning of their fragment, such as `/models`
 */
export function startRouter(main: HTMLElement, pages: ReadonlyMap<string, Page>): void {
  const built = new Map<Page, HTMLElement>();
  const titleOfAll = document.title;
  const route = () => {
    const name = nameIn(location.hash);
    const page = pages.get(/^\/\w+/.exec(name)?.[0] ?? '') ?? pages.get('');
    if (page === undefined) return;
    const view = built.get(page) ?? page.build();
    if (!built.has(page)) main.append(view);
    built.set(page, view);
    for (const one of built.values()) one.hidden = one !== view;
    document.title = name === '' ? titleOfAll : `${page.title} · ${titleOfAll}`;
    markCurrent();
    reveal(name);
  };
  addEventListener('hashchange', route);
  // A link to the current fragment fires no hashchange event.
  addEventListener('click', ({ target }) => {
    const link = (target as Element).closest('a');
    if (link && link.hash !== '' && link.hash === location.hash) route();
  });
  route();
}

function reveal(name: string): void {
  const target = document.getElementById(name);
  if (!target) return;
  for (let outer: Element | null = target; outer; outer = outer.parentElement?.closest('details') ?? null)
    if (outer instanceof HTMLDetailsElement) outer.open = true;
  target.scrollIntoView();
  const line = target instanceof HTMLDetailsElement ? target.querySelector('summary') : undefined;
  (line ?? target).focus({ preventScroll: true });
}

function markCurrent(): void {
  for (const link of document.querySelectorAll('nav a')) {
    if (link.getAttribute('href') === (location.hash || '#')) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
}

function nameIn(hash: string): string {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return '';
  }
}
