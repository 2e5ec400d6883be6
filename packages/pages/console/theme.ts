import { prefer, preferred } from './preferences.js';

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
