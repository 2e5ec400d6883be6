/** Opens and focuses the operation that the URL's fragment names, such as `#listProducts`, and all folds around it. */
export function followDeepLinks(): void {
  addEventListener('hashchange', open);
  // A link to the current fragment fires no hashchange event.
  addEventListener('click', ({ target }) => {
    const link = (target as Element).closest('a');
    if (link && link.hash !== '' && link.hash === location.hash) open();
  });
  open();
}

function open(): void {
  const target = document.getElementById(nameIn(location.hash));
  if (!target) return;
  for (let outer: Element | null = target; outer; outer = outer.parentElement?.closest('details') ?? null)
    if (outer instanceof HTMLDetailsElement) outer.open = true;
  target.scrollIntoView();
  const line = target instanceof HTMLDetailsElement ? target.querySelector('summary') : undefined;
  (line ?? target).focus({ preventScroll: true });
}

function nameIn(hash: string): string {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return '';
  }
}
