/** A browser that blocks the data of sites has no storage. */
function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

/** Prevents confusion with another page of the same origin. */
const PREFIX = 'catalogue.console.';

/** A choice of the person that outlives the tab, such as the columns of a table. It never holds data or keys. */
export function preferred(name: string): string | undefined {
  return storage()?.getItem(`${PREFIX}${name}`) ?? undefined;
}

/** @param choice `undefined` forgets it */
export function prefer(name: string, choice: string | undefined): void {
  if (choice === undefined) storage()?.removeItem(`${PREFIX}${name}`);
  else storage()?.setItem(`${PREFIX}${name}`, choice);
}

export const THEMES = ['light', 'dark', 'system'] as const;
export type Theme = (typeof THEMES)[number];

const NAME = 'theme';

export function chosenTheme(): Theme {
  return THEMES.find((theme) => theme === preferred(NAME)) ?? 'system';
}

/** Shows the page in light or dark colours, or as the system asks. */
export function showTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

export function chooseTheme(theme: Theme): void {
  prefer(NAME, theme === 'system' ? undefined : theme);
  showTheme(theme);
}
